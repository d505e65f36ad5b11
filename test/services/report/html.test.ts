import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  deepElementId,
  FrozenReport,
  frozenElementId,
} from '../../../src-main/domain/report/frozen-report'
import { parseReportHtml } from '../../../src-main/parsers/report/report-html'
import { reportHtml } from '../../../src-main/services/report'
import { deepProfile, largeProfile } from './deep-samples'
import {
  noPrivates,
  recording,
  slowed,
  template,
  withHostileStrings,
  withoutMetrics,
  withTroubles,
  type Sample,
} from './samples'

const page = (sample: Sample, options: Parameters<typeof reportHtml>[1] = {}): string =>
  reportHtml([sample], options, template, noPrivates)
const frozenIn = (html: string): FrozenReport => parseReportHtml(html, 'report.html').report

describe('an HTML report', () => {
  it('holds the session, its sources and all sections', () => {
    const { session, sources } = recording()
    const frozen = frozenIn(page({ session, sources }))
    expect(frozen).toEqual({
      report: 2,
      date: null,
      sections: ['ladder', 'charts', 'matrix', 'compare'],
      sessions: [{ session, sources }],
    })
  })

  it('of what was read back is the same bytes, whatever the session says', () => {
    const empty = recording()
    empty.session.rungs = []
    empty.session.device = null
    for (const sample of [
      recording(),
      withTroubles(),
      withoutMetrics(),
      withHostileStrings(),
      empty,
    ]) {
      const first = page(sample, { date: '2026-11-21' })
      const [again] = frozenIn(first).sessions
      expect(page(again!, { date: '2026-11-21' })).toBe(first)
    }
  })

  it('tells the chosen rungs and sections only', () => {
    const sample = recording()
    const html = page(sample, { rungs: ['06_float4', '02_coalesced'], sections: ['ladder'] })
    const frozen = frozenIn(html)
    const [{ session, sources }] = frozen.sessions as [FrozenReport['sessions'][0]]
    expect(frozen.sections).toEqual(['ladder'])
    // In the ladder's order.
    expect(session.rungs.map(({ id }) => id)).toEqual(['02_coalesced', '06_float4'])
    expect(session.ladder.rungs.map(({ id }) => id)).toEqual(['02_coalesced', '06_float4'])
    expect(Object.keys(sources)).toEqual(['02_coalesced', '06_float4'])
    expect(html).not.toContain('05_thread_tile_2d is')
    expect(() => page(sample, { rungs: ['99_nope'] })).toThrow(
      'The session has no rung named "99_nope".',
    )
  })

  it('that is small until it is unpacked is refused before it fills the memory', () => {
    const html = page(recording())
    const withDeep = (text: string): string => {
      const packed = gzipSync(text).toString('base64')
      expect(packed.length).toBeLessThan(100_000)
      return `${html}<script type="text/plain" id="${deepElementId(0)}">${packed}</script>`
    }
    const refused = (text: string) => () => parseReportHtml(withDeep(text), 'report.html')
    expect(refused(`{"a":[${'[],'.repeat(3_000_000)}0]}`)).toThrow(/5000000 values/)
    // A thousand columns beside one of a million values.
    const columns = Array.from({ length: 1000 }, (_, index) => `"c${index}":[]`).join(',')
    const lines = `{"long":[${'0,'.repeat(1_000_000)}0],${columns}}`
    const kernel = `{"instructions":{},"lines":${lines}}`
    expect(refused(`{"01_naive":{"schema":1,"kernels":[${kernel}]}}`)).toThrow(/5000000 cells/)
  })

  it('lets no hostile text become a part of the page, also where scripts are off', () => {
    const html = page(withHostileStrings())
    const inert = new RegExp(
      `<script type="application/json" id="${frozenElementId}">[^<]*</script>`,
    )
    const rest = html.replace(inert, '')
    expect(rest.length).toBeLessThan(html.length)
    const tags = [...rest.matchAll(/<\/?([a-z!][a-z0-9-]*)/gi)].map(([, name]) => name)
    expect(new Set(tags)).toEqual(
      new Set('!doctype html title body noscript h1 p ul li dl dt dd code script'.split(' ')),
    )
    expect(tags.filter((name) => name === 'script')).toHaveLength(2)
    expect(rest).not.toMatch(/<[a-z]+ [^>]*\bon\w+=/i)
    expect(html.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
  })

  it('says its findings and its origin also without scripts', () => {
    const html = page(recording())
    const [, plain = ''] = /<noscript>(.*)<\/noscript>/s.exec(html) ?? []
    expect(plain).toContain('Best rung: <code>06_float4</code> (128-bit access), 3.41 ms')
    expect(plain).toContain('<dt>Driver</dt><dd>580.159.04</dd>')
    expect(html).toContain('<title>FP32 matrix multiplication at 4096³ f32 on NVIDIA H200')
  })

  it('holds the deep profiles of its rungs, and gives them back', () => {
    const profiles = [deepProfile('03_shared_tile'), largeProfile('06_float4', 50)]
    const html = reportHtml([{ ...recording(), profiles }], {}, template, noPrivates)
    const { report, deep } = parseReportHtml(html, 'report.html')
    expect(deep).toEqual([{ '03_shared_tile': profiles[0], '06_float4': profiles[1] }])
    const again = { ...report.sessions[0]!, profiles: Object.values(deep[0]!) }
    expect(reportHtml([again], {}, template, noPrivates)).toBe(html)
    const one = reportHtml(
      [{ ...recording(), profiles }],
      { rungs: ['06_float4'] },
      template,
      noPrivates,
    )
    expect(Object.keys(parseReportHtml(one, 'x').deep[0]!)).toEqual(['06_float4'])
    const bad = html.replace(/(kernel-ladder-deep-0">.{20})/, '$1AAAA')
    expect(() => parseReportHtml(bad, 'report.html')).toThrow(
      'its deep profiles cannot be unpacked',
    )
  })

  it('sets two sessions side by side, and refuses two that cannot be compared', () => {
    const before = recording()
    const after = slowed(recording(), '06_float4', 1.5)
    const html = reportHtml([before, after], {}, template, noPrivates)
    expect(frozenIn(html).sessions.map(({ session }) => session)).toEqual([
      before.session,
      after.session,
    ])
    after.session.problem!.sizes.m = 1024
    expect(() => reportHtml([before, after], {}, template, noPrivates)).toThrow(/problems differ/)
  })
})

describe('reading a report', () => {
  const html = page(recording())
  it.each([
    ['another page', '<!doctype html><p>hello', 'is not a Kernel Ladder report'],
    ['one that was cut off', html.slice(0, html.length / 2), 'the file is truncated'],
    ['one that is damaged', html.replace('"report":2,', '"report":2,,'), 'it is not JSON'],
    ['one of another shape', html.replace('"rungs":[', '"rings":['), 'expected array'],
    [
      'a newer one',
      html.replace('"report":2,', '"report":7,'),
      'it was written by a newer kernel-ladder',
    ],
  ])('refuses %s with the reason', (_what, text, reason) => {
    expect(() => frozenIn(text)).toThrow(reason)
    expect(() => frozenIn(text)).toThrow('report.html')
  })
})
