/** Tests HTML reports, and checks that no report contains private data. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  deepElementId,
  frozenElementId,
  FrozenReport,
  reportSections,
} from '../../../src-main/domain/report/frozen-report'
import { parseReportHtml } from '../../../src-main/parsers/report/report-html'
import {
  report,
  reportCi,
  reportComparison,
  reportHtml,
  reportPictures,
} from '../../../src-main/services/report'
import { readTemplate } from '../../../src-main/services/report/html'
import { tempDir } from '../support'
import { saying } from '../../support'
import {
  builtTemplate,
  deepProfile,
  largeProfile,
  noPrivates,
  recording,
  type Sample,
  slowed,
  template,
  withHostileStrings,
  withoutMetrics,
  withTroubles,
} from './samples'
import { type DeepProfile } from '../../../src-main/domain/session/deep'
import { textFormats } from '../../../src-main/domain/report/report-format'
import { Session } from '../../../src-main/domain/session/session'
import { buildReport } from '../../../src-main/services/report/model'
import { buildComparison } from '../../../src-main/services/report/comparison'
import { sessionDocument } from '../../../src-main/services/report/session-document'
import { printPage } from '../../../src-main/services/report/print-document'
import { scrubber } from '../../../src-main/services/report/scrub'
import { comparisonDocument } from '../../../src-main/services/report/comparison-document'

describe('HTML', () => {
  const page = (sample: Sample, options: Parameters<typeof reportHtml>[1] = {}): string =>
    reportHtml([sample], options, template, noPrivates)
  const frozenIn = (html: string): FrozenReport => parseReportHtml(html, 'report.html').report

  it('uses the compressed script of the built template, and rejects a template without a script', async () => {
    const reportTemplate = join(await tempDir(), 'template.html')
    const read = async (text: string) => {
      await writeFile(reportTemplate, text)
      return readTemplate({ reportTemplate } as never)
    }
    const page = await read(builtTemplate)
    const packed = /<script>(.+)<\/script>/.exec(page)![1]!
    expect(gunzipSync(Buffer.from(packed, 'base64')).toString()).toBe('draw()')
    expect(page.replace(packed, '')).toBe(template)
    await expect(read(template)).rejects.toThrow(/template/)
  })

  describe('a report', () => {
    it('contains the session, its sources, and all sections', () => {
      const { session, sources } = recording()
      const frozen = frozenIn(page({ session, sources }))
      expect(frozen).toEqual({
        report: 3,
        date: null,
        sections: ['ladder', 'charts', 'matrix', 'compare'],
        sessions: [{ session, sources }],
      })
    })

    it('created from an imported report has the same bytes as that report, for any session', () => {
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

    it('includes only the chosen rungs and sections', () => {
      const sample = recording()
      const html = page(sample, { rungs: ['06_float4', '02_coalesced'], sections: ['ladder'] })
      const frozen = frozenIn(html)
      const [{ session, sources }] = frozen.sessions as [FrozenReport['sessions'][0]]
      expect(frozen.sections).toEqual(['ladder'])
      // The rungs are in the ladder's order.
      expect(session.rungs.map(({ id }) => id)).toEqual(['02_coalesced', '06_float4'])
      expect(session.ladder.rungs.map(({ id }) => id)).toEqual(['02_coalesced', '06_float4'])
      expect(Object.keys(sources)).toEqual(['02_coalesced', '06_float4'])
      expect(html).not.toContain('05_thread_tile_2d is')
      expect(() => page(sample, { rungs: ['99_nope'] })).toThrow(
        'The session has no rung named "99_nope".',
      )
    })

    it('that expands to an enormous size is rejected before it fills memory', () => {
      const html = page(recording())
      const withDeep = (text: string): string => {
        const packed = gzipSync(text).toString('base64')
        expect(packed.length).toBeLessThan(100_000)
        return `${html}<script type="text/plain" id="${deepElementId(0)}">${packed}</script>`
      }
      const refused = (text: string) => () => parseReportHtml(withDeep(text), 'report.html')
      expect(refused(`{"a":[${'[],'.repeat(3_000_000)}0]}`)).toThrow(/5000000 values/)
      // Add a thousand empty columns to a column with a million values.
      const columns = Array.from({ length: 1000 }, (_, index) => `"c${index}":[]`).join(',')
      const lines = `{"long":[${'0,'.repeat(1_000_000)}0],${columns}}`
      const kernel = `{"instructions":{},"lines":${lines}}`
      expect(refused(`{"01_naive":{"schema":2,"kernels":[${kernel}]}}`)).toThrow(/5000000 cells/)
    })

    it("keeps malicious text out of the page's markup, even without scripts", () => {
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

    it('shows its findings and its origin even without scripts', () => {
      const html = page(recording())
      const [, plain = ''] = /<noscript>(.*)<\/noscript>/s.exec(html) ?? []
      expect(plain).toContain('Best rung: <code>06_float4</code> (128-bit access), 3.41 ms')
      expect(plain).toContain('<dt>Driver</dt><dd>580.159.04</dd>')
      expect(html).toContain('<title>FP32 matrix multiplication at 4096³ FP32 on NVIDIA H200')
    })

    it('contains the deep profiles of its rungs, which can be read back', () => {
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

    it('shows two comparable sessions side by side', () => {
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
      ['a different page', '<!doctype html><p>hello', 'is not a Kernel Ladder report'],
      ['a truncated report', html.slice(0, html.length / 2), 'the file is truncated'],
      ['a damaged report', html.replace('"report":3,', '"report":3,,'), 'it is not JSON'],
      ['a report of the wrong shape', html.replace('"rungs":[', '"rings":['), 'expected array'],
      [
        'a newer one',
        html.replace('"report":3,', '"report":7,'),
        'it was written by a newer kernel-ladder',
      ],
    ])('rejects %s, and gives the reason and a remedy', (what, text, reason) => {
      expect(() => frozenIn(text)).toThrow(reason)
      expect(() => frozenIn(text)).toThrow('report.html')
      const remedy = what === 'a newer one' ? 'Update kernel-ladder' : 'unmodified file'
      expect(() => frozenIn(text)).toThrow(
        expect.objectContaining({ remedy: saying(remedy) }) as Error,
      )
    })
  })
})

describe('privacy', () => {
  const privates = { folders: ['/srv/people/mallory'], words: ['frosthost17', 'mallory'] }

  /** Text with every kind of private data, in the formats that tools print. */
  const marker = [
    '/home/mallory/secret-a/x.cu(3): error',
    '"/net/my secret-b/dir"',
    '-I/gpfs/secret-c/include',
    '--out=/var/secret-d/y',
    '/srv/people/mallory/secret-e',
    'C:\\Users\\mallory\\secret-f',
    '\\\\secret-g\\share\\x',
    'file:///secret-h/x',
    'mallory@frosthost17.lab.example.edu',
    'GPU-deadbeef-1234-5678-9abc-def012345678',
    'deadbeef-1234-5678-9abc-def012345678',
    'serial number: SN7654321',
    '1320123456789',
    'de:ad:be:ef:00:01',
    'host=frosthost17',
    'user: mallory',
    '10.20.30.40',
    'frosthost17',
  ].join(' ')

  const secrets =
    /mallory|secret-|frosthost|deadbeef|9abc|SN7654321|1320123456789|de:ad:be|10\.20\.30|lab\.example/i

  /**
   * Fields with a fixed format, and fields that depend on other fields. These fields cannot contain
   * private text.
   */
  const fixed = new Set(
    'after reference createdAt unit evidence status cacheState kind completion severity metric direction profile requires url speedupType stallSamples'.split(
      ' ',
    ),
  )

  const taskProse = 'title summary formula result name'.split(' ')

  /**
   * Puts the marker in the author's texts in a task. The other strings are names and expressions.
   */
  function markTask(value: unknown, key: string): unknown {
    if (typeof value === 'string') return taskProse.includes(key) ? marker : value
    if (Array.isArray(value)) return value.map((item) => markTask(item, key))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, markTask(item, name)]),
    )
  }

  function mark(value: unknown, key: string): unknown {
    if (key === 'task') return markTask(value, key)
    if (typeof value === 'string') return fixed.has(key) ? value : marker
    if (Array.isArray(value)) return value.map((item) => mark(item, key))
    if (value === null || typeof value !== 'object') return value
    const isNamed = key === 'rungs' || key === 'header' || key === 'ladder'
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        (name === 'id' && isNamed) || (name === 'name' && key === 'params')
          ? (item as unknown)
          : mark(item, name),
      ]),
    )
  }

  function marked(): Sample {
    const sample = withTroubles()
    const metric = { value: null, unit: 'inst', evidence: 'unavailable', reason: 'x' } as const
    sample.session.rungs[1]!.metrics.sharedLoads = metric
    sample.session.rungs[1]!.ncuMetrics = { 'some.metric': { value: 'x', unit: 'x' } }
    sample.session.warnings = ['x']
    sample.session.ladder.folder = 'x'
    const session = Session.parse(mark(sample.session, ''))
    session.rungs.forEach(({ id }, index) => {
      sample.sources[id] = `// ${marker}\n${index}\n#include "/home/mallory/secret-z.h"\n`
    })
    return { session, sources: sample.sources }
  }

  /** Returns the compressed contents of a page as text. */
  function unpacked(sample: Sample): string {
    const profile = mark(deepProfile('06_float4'), 'instructions') as DeepProfile
    profile.rung = '06_float4'
    const html = reportHtml([{ ...sample, profiles: [profile] }], {}, template, privates)
    const { deep } = parseReportHtml(html, 'x')
    expect(Object.keys(deep[0]!)).toEqual(['06_float4'])
    return JSON.stringify(deep)
  }

  const modelInput = (sample: Sample) => ({
    ...sample,
    scrub: scrubber(privates),
    sections: reportSections,
    date: null,
  })

  const texts = (sample: Sample): [string, string][] => [
    ...textFormats.flatMap((format): [string, string][] => [
      [format, report(sample, { format }, privates)],
      [`${format} compared`, reportComparison(sample, sample, { format }, privates)],
    ]),
    ['html', reportHtml([sample], {}, template, privates)],
    ['html, its deep profiles unpacked', unpacked(sample)],
    ['print', printPage(sessionDocument(buildReport(modelInput(sample))))],
    [
      'print compared',
      printPage(comparisonDocument(buildComparison(modelInput(sample), modelInput(sample)))),
    ],
    [
      'the pictures',
      [...reportPictures([sample], {}, privates), ...reportPictures([sample, sample], {}, privates)]
        .map(({ name, text }) => name + text)
        .join('\n'),
    ],
    ['html compared', reportHtml([sample, sample], {}, template, privates)],
    ['csv wide', report(sample, { format: 'csv', wide: true }, privates)],
    ['ci', reportCi(sample, sample, { thresholdPercent: 3 }, privates).text],
    ['ci as JSON', reportCi(sample, sample, { thresholdPercent: 3, json: true }, privates).text],
  ]

  describe('machine and personal names', () => {
    it('occur in every text field of the session that this test exports', () => {
      expect(JSON.stringify(marked().session).match(/frosthost17/g)!.length).toBeGreaterThan(100)
    })

    it.each(texts(marked()))('do not leak into %s', (_format, text) => {
      // TeX and Markdown may insert escape characters between letters.
      for (const form of [text, text.replaceAll(/\\(?=[_-])|-\{\}|\{\}/g, '')])
        expect(secrets.exec(form)?.[0]).toBeUndefined()
    })

    it('are removed from a sentence even if this machine does not know the names', () => {
      const { sentence, source } = scrubber(noPrivates)
      const known = /secret-|deadbeef|SN7654321|1320123456789|lab\.example/
      expect(sentence(marker)).not.toMatch(known)
      expect(source(marker)).not.toMatch(/secret-|deadbeef|lab\.example/)
      expect(sentence('nvcc: /home/mallory/a.cu: no such file')).toBe('nvcc: <path>: no such file')
    })

    it('remove nothing from a built-in recording', () => {
      const { session, sources } = recording()
      const { source: scrub } = scrubber(privates)
      expect(JSON.parse(report({ session, sources }, { format: 'json' }, privates))).toEqual(
        session,
      )
      for (const source of Object.values(sources)) expect(scrub(source)).toBe(source)
    })

    it('are found in linear time, even in malicious text', () => {
      const { sentence } = scrubber(privates)
      // Measure CPU time, which is independent of the load from other processes.
      const before = process.cpuUsage()
      for (const part of [
        'a.',
        'a-',
        '/a',
        '"/a',
        '\\\\a',
        'user ',
        '~a',
        'a@',
        'serial ',
        'ab:',
        '-I/',
      ])
        sentence(part.repeat(50_000))
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(5000)
    })

    it('are not found in code that looks like a name', () => {
      const text = 'float* host = args.local; int user: 3; auto x = p.io.dev / tile.home; a /b/ c'
      expect(scrubber(privates).source(text)).toBe(text)
    })

    it.each([
      'nvcc 10.2.89',
      'https://siboehm.com/articles/22/CUDA-MMM',
      'gemm/01_naive.cu:12: error',
      'a/b and TM + TN, A/B, 8/4 GFLOP/s',
      '<cache>/nvcc/01_naive.cu',
      'x = a / b / c; // M / N / K',
      'ncu 2025.3.1.0, driver 580.159.04',
      'needs sm_90; cc 9.0.',
      'l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum',
    ])('are not found in %j', (text) => {
      expect(scrubber(privates).sentence(text)).toBe(text)
    })
  })
})
