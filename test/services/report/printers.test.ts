/** Tests the printed text of every report format, and how other programs parse that text. */
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import MarkdownIt from 'markdown-it'
import Papa from 'papaparse'
import {
  report,
  reportCi,
  reportComparison,
  reportPictures,
} from '../../../src-main/services/report'
import { fenced, md, mdCode } from '../../../src-main/domain/text/markdown'
import {
  hostile,
  noPrivates,
  recording,
  type Sample,
  withHostileStrings,
  withoutMetrics,
  withTroubles,
} from './samples'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { withRungs } from '../../../src-main/domain/report/frozen-report'
import { scrubSession } from '../../../src-main/services/report/scrub'
import { recordingsDir } from '../support'
import { isValid } from '../../json-schemas'
import { csvTable } from '../../../src-main/domain/text/csv'
import { tex } from '../../../src-main/services/report/latex-markup'
import { publishedFigures } from '../../../src-main/services/report/published-figures'

describe('printers', () => {
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
    ])('%j appears unchanged as text', (text, expected) => {
      expect(md(text)).toBe(expected)
    })

    it('has fences and code spans that are longer than any run of backticks inside', () => {
      expect(mdCode('a``b`')).toBe('``` a``b` ```')
      expect(fenced('````\nx', 'diff')).toBe('`````diff\n````\nx\n`````')
    })

    it('shows the origin of emulated counts, and omits time columns', () => {
      const { session, sources } = recording()
      const emulated: Sample = {
        sources,
        session: {
          ...session,
          target: { kind: 'emulated', name: 'h200' },
          device: null,
          rungs: session.rungs.map((rung) => ({ ...rung, timing: null })),
        },
      }
      const text = report(emulated, { format: 'md' }, noPrivates)
      expect(text).toMatch(/^# .*, emulated on H200$/m)
      expect(text).toContain('counted by an emulator that executes the machine code')
      expect(text).toMatch(/\| Rung \| What \| Status \| .*Bank conflicts, shared loads/)
      expect(text).not.toMatch(/CUDA events, the median|Step ○/)
      expectTables(text)
      const latex = report(emulated, { format: 'tex' }, noPrivates)
      expect(latex).toContain('counted by an emulator')
      expect(latex).not.toMatch(/Rung & What & Time/)
    })

    it('has all sections, tables with consistent columns, and a collapsible diff for each step', () => {
      const text = report(recording(), { format: 'md' }, noPrivates)
      expect(text.match(/^## .*/gm)).toEqual([
        '## Summary',
        '## Ladder',
        '## Steps',
        '## Provenance',
      ])
      expect(text.match(/^```diff$/gm)).toHaveLength(5)
      expect(text).toMatch(/^\+.*__shared__ float aTile/m)
      expect(text).toContain(
        '| `06_float4` | 128-bit access | ok | 3.41 ms | 0.06 % | 40.3 TFLOP/s |',
      )
      expectTables(text)
    })

    it('lists reasons and diagnostics for missing results, and explains missing figures in footnotes', () => {
      const text = report(withTroubles(), { format: 'md' }, noPrivates)
      expect(text).toContain('**wrong.** 7 of 16 differ.')
      expect(text).toContain('```text\ngemm/03_shared_tile.cu:12: error: expected a ";"\n```')
      expect(text).toMatch(/– <sup>1<\/sup>/)
      expect(text).toContain('\n1. It did not run.\n')
    })

    it('mentions a counter only once, with the reason, if no rung has its value', () => {
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

    it('contains no markup from malicious text', () => {
      const text = report(withHostileStrings(), { format: 'md' }, noPrivates)
      expectTables(text)
      const outside = withoutFences(text).replaceAll(codeSpan, '')
      const tags = outside.match(/<[a-z!/][^>]*>/gi)?.filter((tag) => tag !== '<!-- -->')
      expect(tags?.filter((tag) => !/^<\/?(details|summary|sup)>$/.test(tag))).toEqual([])
      expect(outside.match(/^<details>$/gm)?.length).toBe(outside.match(/^<\/details>$/gm)?.length)
      expect(outside).not.toMatch(/^# heading|^- item|[^\\]\[a\]\(javascript|https?:\/\/evil/m)
    })
  })

  /** Matches one-line code spans, which start and end with the same number of backticks. */
  const codeSpan = /(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)/g

  /** Returns the text without fenced blocks, according to CommonMark's rule for closing fences. */
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
      if (line.startsWith('|') && above.startsWith('|'))
        expect(cells(line), line).toBe(cells(above))
    })
  }

  describe('CSV', () => {
    const read = (text: string): Record<string, string>[] =>
      parse(text, { columns: true, relax_column_count: false, record_delimiter: '\r\n' })

    it('in long form has one row per figure, with unit, evidence, and reason', () => {
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

    it('in wide form has one row per rung with provenance, and units in column names', () => {
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

    it('preserves every text without turning a cell into a formula', () => {
      const text = csvTable(['n', 'text'], [...hostile.map((one) => [-1.5, one]), [-2, null]])
      const rows = read(text)
      expect(rows.map(({ n }) => n)).toEqual([...hostile.map(() => '-1.5'), '-2'])
      for (const { text: cell } of rows) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
      expect(rows[1]?.text).toBe(`'${hostile[1]}`)
      expect(rows[5]?.text).toBe(`'${hostile[5]}`)
      expect(rows[11]?.text).toBe('a,"b"\nc;d')
    })

    it('from a malicious session has no formula in either form', () => {
      for (const wide of [false, true]) {
        const rows = read(report(withHostileStrings(), { format: 'csv', wide }, noPrivates))
        for (const cell of rows.flatMap((row) => Object.values(row)))
          if (!/^-?\d+(\.\d+)?(e-?\d+)?$/.test(cell)) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
      }
    })
  })

  describe('LaTeX', () => {
    it('escapes all special characters, and spells out characters that it cannot print', () => {
      expect(tex('\\{}$&#%_^~')).toBe(
        '\\textbackslash{}\\{\\}\\$\\&\\#\\%\\_\\textasciicircum{}\\textasciitilde{}',
      )
      expect(tex('a--b – é א \u202e')).toBe('a-{}-b -- é {[}U+05D0{]} {[}U+202E{]}')
    })

    it('is a booktabs table with one row per rung', () => {
      const text = report(recording(), { format: 'tex' }, noPrivates)
      for (const rule of ['toprule', 'midrule', 'bottomrule']) expect(text).toContain(`\\${rule}`)
      expect(text).toContain(
        '\\texttt{06\\_float4} & 128-bit access & 3.41 ms & 0.06 \\% & 40.3 TFLOP/s & 2.69 ms & 0.788$\\times$ & 1.30$\\times$ \\\\',
      )
    })

    it('from a malicious session has balanced groups, paired math delimiters, and only its own commands', () => {
      const text = report(withHostileStrings(), { format: 'tex' }, noPrivates)
        .split('\n')
        .filter((line) => !line.startsWith('%'))
        .join('\n')
      const plain = text.replaceAll(/\\[\\{}$&#%_]/g, '')
      expect(plain.match(/\{/g)?.length).toBe(plain.match(/\}/g)?.length)
      expect((plain.match(/\$/g)?.length ?? 0) % 2).toBe(0)
      expect(plain).not.toMatch(/[%#^~]/)
      expect(plain).not.toMatch(/\\(input|write|include)/)
      // Every row must have as many cells as its table has columns. The ladder table has eight
      // columns. Counter tables declare their own number of columns.
      const tables = text.match(/\\begin\{tabular\}[^]*?\\end\{tabular\}/g)!
      expect(tables.length).toBeGreaterThan(1)
      for (const table of tables) {
        const more = /\*\{(\d+)\}/.exec(table)?.[1]
        for (const row of table.split('\n').filter((line) => line.endsWith('\\\\')))
          expect(row.replaceAll('\\&', '').match(/&/g)).toHaveLength(
            row.includes('multicolumn') ? 2 : Number(more ?? 7),
          )
      }
    })
  })
})

describe('published figures', async () => {
  const session = await readSession(join(recordingsDir, 'seed-rtx3090-h200-1024'))
  const strides = session.rungs.filter(({ params }) => params['STRIDE'] !== undefined)

  describe('of a parameter study', () => {
    const { columns, rows } = publishedFigures(session)!

    it('have every column of the author’s two tables', () => {
      expect(columns).toEqual([
        'Throughput',
        'Threads per block',
        'Waves per SM',
        'Theoretical occupancy',
        'Achieved occupancy',
        'Shared-memory loads',
        'FMA pipe utilization',
        'Registers per thread',
      ])
    })

    it("show the author’s threads per block next to ncu's value for our kernels", () => {
      expect(strides).toHaveLength(5)
      for (const { id, params } of strides) {
        const { ours, theirs } = rows.find((row) => row.id === id)!
        const threads = String(256 / params['STRIDE']!)
        expect([ours[1], theirs[1]], id).toEqual([threads, threads])
      }
    })

    it('have an empty cell if the author gave no figure', () => {
      const tiled = rows.find(({ id }) => id === '03_shared_tile')!
      expect([tiled.ours[1], tiled.theirs[1]]).toEqual(['256', '–'])
    })

    it('remain in a scrubbed session, but only for its remaining rungs', () => {
      const [first] = strides
      const told = withRungs(
        scrubSession(session, (text) => text.replaceAll('stride', 'x')),
        [first!.id],
      )
      expect(told.ladder.published?.threadsPerBlock).toEqual({ [first!.id]: 256 })
    })
  })
})

it("a report contains neither a session's machine nor its node", () => {
  const { session } = recording()
  const told = scrubSession(
    {
      ...session,
      target: { kind: 'machine', name: 'titan' },
      host: { name: 'gpu-node-17', job: '42' },
    },
    (text) => text,
  )
  expect(told.target).toEqual({ kind: 'machine', name: 'MACHINE' })
  expect(JSON.stringify(told)).not.toMatch(/titan|gpu-node-17/)
})

describe('output formats', () => {
  const all = (): Sample[] => [recording(), withTroubles(), withoutMetrics(), withHostileStrings()]

  describe('rendered Markdown', () => {
    const markdown = new MarkdownIt({ html: true, linkify: true })
    const rendered = (sample: Sample): string =>
      markdown.render(report(sample, { format: 'md', pictures: 'a b.assets' }, noPrivates))

    it('has its headings, tables with complete rows, collapsible diffs, and pictures', () => {
      const html = rendered(recording())
      const heads = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, text]) => text)
      expect(heads).toEqual(['Summary', 'Ladder', 'Charts', 'Steps', 'Provenance'])
      for (const [, head, body] of html.matchAll(
        /<thead>(.*?)<\/thead>\s*<tbody>(.*?)<\/tbody>/gs,
      )) {
        const columns = head!.match(/<th[ >]/g)!.length
        for (const row of body!.match(/<tr>.*?<\/tr>/gs) ?? [])
          expect(row.match(/<td[ >]/g)).toHaveLength(columns)
      }
      expect(
        html.match(/<details>\s*<summary>Source diff.*?<pre><code class="language-diff">/gs),
      ).toHaveLength(5)
      const pictures = [...html.matchAll(/<img src="(.*?)" alt="(.+?)">/g)].map(([, src]) => src)
      const files = reportPictures([recording()], {}, noPrivates).map(({ name }) => name)
      expect(pictures).toEqual(files.map((name) => `a%20b.assets/${name}`))
      expect(files).toContain('throughput.svg')
    })

    it('from malicious texts has no element, link, or picture from these texts', () => {
      const html = rendered(withHostileStrings())
      const tags = new Set([...html.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, name]) => name))
      for (const name of ['script', 'a', 'iframe', 'b', 'i']) expect(tags).not.toContain(name)
      for (const [, src] of html.matchAll(/<img src="(.*?)"/g))
        expect(src).toMatch(/^a%20b\.assets\/\w+\.svg$/)
      expect(html).not.toMatch(/<[^>]*\son\w+=/i)
      expect(html.match(/<details>/g)).toHaveLength(html.match(/<\/details>/g)!.length)
    })
  })

  describe('collapsible text in Markdown', () => {
    it('has its title in HTML, because a backslash would appear as text', () => {
      const after = recording()
      after.sources['06_float4'] += '// changed\n'
      const html = new MarkdownIt({ html: true }).render(
        report(recording(), { format: 'md' }, noPrivates) +
          reportComparison(recording(), after, { format: 'md' }, noPrivates),
      )
      const names = [...html.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, name]) => name!)
      expect(names).toContain('<code>06_float4</code>: source diff')
      expect(names.join()).toContain('gemm/05_thread_tile_2d.cu → gemm/06_float4.cu')
      expect(names.join()).not.toContain('\\')
    })
  })

  describe('the origin of two sessions', () => {
    it("has each rung's source hash in every format, or both hashes if they differ", () => {
      const after = recording()
      after.session.rungs.at(-1)!.sourceHash = 'f'.repeat(64)
      const hashes = [...recording().session.rungs, after.session.rungs.at(-1)!].map(
        ({ sourceHash }) => sourceHash,
      )
      for (const format of ['md', 'csv', 'json', 'tex'] as const) {
        const text = reportComparison(recording(), after, { format }, noPrivates)
        for (const hash of hashes) expect(text).toContain(hash)
      }
      const { text } = reportCi(recording(), after, { thresholdPercent: 3 }, noPrivates)
      for (const hash of hashes) expect(text).toContain(hash)
    })
  })

  describe('the accompanying pictures', () => {
    it('are well-formed SVGs without scripts', () => {
      for (const sample of all())
        for (const { name, text } of reportPictures([sample], {}, noPrivates)) {
          expect(name).toMatch(/^\w+\.svg$/)
          expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>\n$/)
          expect(text).not.toMatch(/<script|<image|<foreignObject|\son\w+=|NaN|undefined/i)
        }
      expect(reportPictures([recording()], { sections: ['ladder'] }, noPrivates)).toEqual([])
    })
  })

  describe('CSV, parsed by another library', () => {
    it.each([false, true])('has every figure in the expected row and column (wide: %s)', (wide) => {
      for (const sample of all()) {
        const text = report(sample, { format: 'csv', wide }, noPrivates)
        const { data, errors, meta } = Papa.parse<Record<string, string>>(text, {
          header: true,
          skipEmptyLines: true,
        })
        expect(errors).toEqual([])
        for (const { id, timing } of sample.session.rungs) {
          const median = wide
            ? data.find(({ rung }) => rung === id)?.['timing.medianMs [ms]']
            : data.find(({ rung, metric }) => rung === id && metric === 'timing.medianMs')?.value
          expect(median).toBe(timing ? String(timing.medianMs) : '')
        }
        expect(meta.fields![0]).toBe('rung')
      }
    })
  })

  describe('JSON, validated by another validator', () => {
    it('matches the published schema', () => {
      for (const sample of all())
        expect(isValid('session', JSON.parse(report(sample, { format: 'json' }, noPrivates)))).toBe(
          true,
        )
      expect(isValid('session', { ...recording().session, rungs: [{ id: 7 }] })).toBe(false)
    })
  })
})
