import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { report } from '../../../src-main/services/report'
import { csvTable } from '../../../src-main/domain/text/csv'
import { fenced, md, mdCode } from '../../../src-main/domain/text/markdown'
import { tex } from '../../../src-main/services/report/tex-text'
import { hostile, noPrivates, recording, withHostileStrings, withTroubles } from './samples'

describe('Markdown', () => {
  it.each([
    ['<script>&', '&lt;script&gt;&amp;'],
    [
      'a|b * _c_ [d](e) `f` ~g~ $h$ \\',
      'a\\|b \\* \\_c\\_ \\[d\\](e) \\`f\\` \\~g\\~ \\$h\\$ \\\\',
    ],
    ['# heading\n- item', '\\# heading - item'],
    ['1. one', '1\\. one'],
    ['2.69 ms', '2.69 ms'],
    ['- item', '\\- item'],
    ['---', '\\---'],
    ['@bob #12', '@<!-- -->bob #<!-- -->12'],
    ['http://x www.y', 'http&#58;//x www<!-- -->.y'],
    ['a\u202eb', 'a\\[U+202E\\]b'],
  ])('%j is the text it is', (text, expected) => {
    expect(md(text)).toBe(expected)
  })

  it('fences and code spans are longer than any run of backticks inside', () => {
    expect(mdCode('a``b`')).toBe('``` a``b` ```')
    expect(fenced('````\nx', 'diff')).toBe('`````diff\n````\nx\n`````')
  })

  it('has every part, tables of one width, and a diff of each step that opens on a click', () => {
    const text = report(recording(), { format: 'md' }, noPrivates)
    expect(text.match(/^## .*/gm)).toEqual(['## Summary', '## Ladder', '## Steps', '## Provenance'])
    expect(text.match(/^```diff$/gm)).toHaveLength(5)
    expect(text).toMatch(/^\+.*__shared__ float aTile/m)
    expect(text).toContain(
      '| `06_float4` | 128-bit access | ok | 3.41 ms | 0.06 % | 40.3 TFLOP/s |',
    )
    expectTables(text)
  })

  it('tells rungs without a result with reason and diagnostics, and numbers absent figures', () => {
    const text = report(withTroubles(), { format: 'md' }, noPrivates)
    expect(text).toContain('**wrong.** 7 of 16 differ.')
    expect(text).toContain('```text\ngemm/03_shared_tile.cu:12: error: expected a ";"\n```')
    expect(text).toMatch(/– <sup>1<\/sup>/)
    expect(text).toContain('\n1. It did not run.\n')
  })

  it('tells once of a counter that no rung has, with the reason', () => {
    const sample = recording()
    for (const { metrics } of sample.session.rungs)
      metrics.sharedLoads = {
        value: null,
        unit: 'inst',
        evidence: 'unavailable',
        reason: 'No ncu.',
      }
    const text = report(sample, { format: 'md' }, noPrivates)
    expect(text).toContain('Counters without a value on any rung: 1')
    expect(text.match(/Shared-memory loads \(inst\): No ncu\./g)).toHaveLength(1)
    expect(text).not.toMatch(/\| Shared-memory loads|<sup>/)
  })

  it('lets no hostile text become markup', () => {
    const text = report(withHostileStrings(), { format: 'md' }, noPrivates)
    expectTables(text)
    const outside = withoutFences(text).replaceAll(codeSpan, '')
    const tags = outside.match(/<[a-z!/][^>]*>/gi)?.filter((tag) => tag !== '<!-- -->')
    expect(tags?.filter((tag) => !/^<\/?(details|summary|sup)>$/.test(tag))).toEqual([])
    expect(outside.match(/^<details>$/gm)?.length).toBe(outside.match(/^<\/details>$/gm)?.length)
    expect(outside).not.toMatch(/^# heading|^- item|[^\\]\[a\]\(javascript|https?:\/\/evil/m)
  })
})

/** Code on one line, ended by as many backticks as began it. */
const codeSpan = /(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)/g

/** The text with fenced blocks taken out, by the rule that CommonMark closes them by. */
function withoutFences(text: string): string {
  let fence: string | null = null
  return text
    .split('\n')
    .filter((line) => {
      const run = /^`{3,}/.exec(line)?.[0]
      if (fence === null) {
        if (run) fence = run
        return !run
      }
      if (run && run.length >= fence.length && line.trim() === run) fence = null
      return false
    })
    .join('\n')
}

function expectTables(text: string): void {
  const lines = withoutFences(text).split('\n')
  const cells = (line: string): number => line.match(/(?<!\\)\|/g)?.length ?? 0
  lines.forEach((line, index) => {
    const above = lines[index - 1] ?? ''
    if (line.startsWith('|') && above.startsWith('|')) expect(cells(line), line).toBe(cells(above))
  })
}

describe('CSV', () => {
  const read = (text: string): Record<string, string>[] =>
    parse(text, { columns: true, relax_column_count: false, record_delimiter: '\r\n' })

  it('long: a line a figure, with unit, evidence and reason', () => {
    const rows = read(report(withTroubles(), { format: 'csv' }, noPrivates))
    const of = (rung: string, metric: string) =>
      rows.find((row) => row.rung === rung && row.metric === metric)
    expect(of('06_float4', 'timing.medianMs')).toEqual({
      rung: '06_float4',
      metric: 'timing.medianMs',
      value: '3.41180801',
      unit: 'ms',
      evidence: 'measured',
      reason: '',
    })
    expect(of('06_float4', 'sharedLoads')).toMatchObject({ unit: 'inst', evidence: 'measured' })
    expect(of('03_shared_tile', 'timing.medianMs')).toMatchObject({
      value: '',
      evidence: 'unavailable',
      reason: "The rung's status is failed.",
    })
    expect(of('05_thread_tile_2d', 'sharedLoads')).toMatchObject({
      value: '',
      reason: 'It did not run.',
    })
    expect(of('', 'gpu')?.value).toContain('NVIDIA H200')
  })

  it('wide: a line a rung, with units in the columns and the provenance', () => {
    const rows = read(report(recording(), { format: 'csv', wide: true }, noPrivates))
    expect(rows).toHaveLength(7)
    expect(rows[6]).toMatchObject({
      rung: '06_float4',
      'timing.medianMs [ms]': '3.41180801',
      'fmaUtilization [%]': '62.52',
      'fmaUtilization evidence': 'measured',
      driver: '580.159.04',
    })
  })

  it('reads back every text, and none is a formula', () => {
    const text = csvTable(['n', 'text'], [...hostile.map((one) => [-1.5, one]), [-2, null]])
    const rows = read(text)
    expect(rows.map(({ n }) => n)).toEqual([...hostile.map(() => '-1.5'), '-2'])
    for (const { text: cell } of rows) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    expect(rows[1]?.text).toBe(`'${hostile[1]}`)
    expect(rows[5]?.text).toBe(`'${hostile[5]}`)
    expect(rows[11]?.text).toBe('a,"b"\nc;d')
  })

  it('of a hostile session has no formula in either form', () => {
    for (const wide of [false, true]) {
      const rows = read(report(withHostileStrings(), { format: 'csv', wide }, noPrivates))
      for (const cell of rows.flatMap((row) => Object.values(row)))
        if (!/^-?\d+(\.\d+)?(e-?\d+)?$/.test(cell)) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    }
  })
})

describe('LaTeX', () => {
  it('escapes every special, and names what it cannot set', () => {
    expect(tex('\\{}$&#%_^~')).toBe(
      '\\textbackslash{}\\{\\}\\$\\&\\#\\%\\_\\textasciicircum{}\\textasciitilde{}',
    )
    expect(tex('a--b – é א \u202e')).toBe('a-{}-b -- é {[}U+05D0{]} {[}U+202E{]}')
  })

  it('is a booktabs table with a row a rung', () => {
    const text = report(recording(), { format: 'tex' }, noPrivates)
    for (const rule of ['toprule', 'midrule', 'bottomrule']) expect(text).toContain(`\\${rule}`)
    expect(text).toContain(
      '\\texttt{06\\_float4} & 128-bit access & 3.41 ms & 0.06 \\% & 40.3 TFLOP/s & 0.788$\\times$ & 1.30$\\times$ \\\\',
    )
  })

  it('of a hostile session has balanced groups, paired mathematics and only its own commands', () => {
    const text = report(withHostileStrings(), { format: 'tex' }, noPrivates)
      .split('\n')
      .filter((line) => !line.startsWith('%'))
      .join('\n')
    const plain = text.replaceAll(/\\[\\{}$&#%_]/g, '')
    expect(plain.match(/\{/g)?.length).toBe(plain.match(/\}/g)?.length)
    expect((plain.match(/\$/g)?.length ?? 0) % 2).toBe(0)
    expect(plain).not.toMatch(/[%#^~]/)
    expect(plain).not.toMatch(/\\(input|write|include)/)
    for (const row of text.split('\n').filter((line) => line.endsWith('\\\\')))
      expect(row.replaceAll('\\&', '').match(/&/g)).toHaveLength(
        row.includes('multicolumn') ? 2 : 6,
      )
  })
})
