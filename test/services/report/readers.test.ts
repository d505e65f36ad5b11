/** Reports read by the programs that others read them with. */
import MarkdownIt from 'markdown-it'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'
import { isValid } from '../../json-schemas'
import {
  report,
  reportCi,
  reportComparison,
  reportPictures,
} from '../../../src-main/services/report'
import {
  noPrivates,
  recording,
  withHostileStrings,
  withoutMetrics,
  withTroubles,
  type Sample,
} from './samples'

const all = (): Sample[] => [recording(), withTroubles(), withoutMetrics(), withHostileStrings()]

describe('Markdown, rendered', () => {
  const markdown = new MarkdownIt({ html: true, linkify: true })
  const rendered = (sample: Sample): string =>
    markdown.render(report(sample, { format: 'md', pictures: 'a b.assets' }, noPrivates))

  it('has its headings, tables as wide as their heads, diffs that open, and its pictures', () => {
    const html = rendered(recording())
    const heads = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, text]) => text)
    expect(heads).toEqual(['Summary', 'Ladder', 'Charts', 'Steps', 'Provenance'])
    for (const [, head, body] of html.matchAll(/<thead>(.*?)<\/thead>\s*<tbody>(.*?)<\/tbody>/gs)) {
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

  it('of hostile texts has no element, link or picture of theirs', () => {
    const html = rendered(withHostileStrings())
    const tags = new Set([...html.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, name]) => name))
    for (const name of ['script', 'a', 'iframe', 'b', 'i']) expect(tags).not.toContain(name)
    for (const [, src] of html.matchAll(/<img src="(.*?)"/g))
      expect(src).toMatch(/^a%20b\.assets\/\w+\.svg$/)
    expect(html).not.toMatch(/<[^>]*\son\w+=/i)
    expect(html.match(/<details>/g)).toHaveLength(html.match(/<\/details>/g)!.length)
  })
})

describe('what opens on a click in Markdown', () => {
  it('is named in HTML, where a backslash would be read as one', () => {
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

describe('the origin of two sessions side by side', () => {
  it('has the source hash of each rung in every format, twice where they differ', () => {
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

describe('the pictures beside it', () => {
  it('are whole SVGs without a text of their own that could run', () => {
    for (const sample of all())
      for (const { name, text } of reportPictures([sample], {}, noPrivates)) {
        expect(name).toMatch(/^\w+\.svg$/)
        expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>\n$/)
        expect(text).not.toMatch(/<script|<image|<foreignObject|\son\w+=|NaN|undefined/i)
      }
    expect(reportPictures([recording()], { sections: ['ladder'] }, noPrivates)).toEqual([])
  })
})

describe('CSV, read by another reader', () => {
  it.each([false, true])('has every figure, in its own line and column (wide: %s)', (wide) => {
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
  it('meets the published schema', () => {
    for (const sample of all())
      expect(isValid('session', JSON.parse(report(sample, { format: 'json' }, noPrivates)))).toBe(
        true,
      )
    expect(isValid('session', { ...recording().session, rungs: [{ id: 7 }] })).toBe(false)
  })
})
