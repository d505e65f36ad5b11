import { describe, expect, it } from 'vitest'
import type { DeepProfile } from '../../../src-main/domain/session/deep'
import { reportSections } from '../../../src-main/domain/report/frozen-report'
import { textFormats } from '../../../src-main/domain/report/report-format'
import { Session } from '../../../src-main/domain/session/session'
import { parseReportHtml } from '../../../src-main/parsers/report/report-html'
import {
  report,
  reportCi,
  reportComparison,
  reportHtml,
  reportPictures,
} from '../../../src-main/services/report'
import { buildReport } from '../../../src-main/services/report/model'
import { buildComparison } from '../../../src-main/services/report/comparison'
import { comparisonDocument } from '../../../src-main/services/report/comparison-document'
import { printPage } from '../../../src-main/services/report/print'
import { scrubber } from '../../../src-main/services/report/scrub'
import { sessionDocument } from '../../../src-main/services/report/session-document'
import { deepProfile } from './deep-samples'
import { noPrivates, recording, template, withTroubles, type Sample } from './samples'

const privates = { folders: ['/srv/people/mallory'], words: ['frosthost17', 'mallory'] }

/** One text with everything that must not leave, each in the forms that tools write it in. */
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

/** Fields that the schema ties to a form or to other fields; no machine writes its name there. */
const fixed = new Set(
  'after reference createdAt unit evidence status kind completion severity metric direction profile requires url speedupType'.split(
    ' ',
  ),
)

const taskProse = 'title summary formula result name'.split(' ')

/** Of a task, what an author writes; the rest are names and expressions. */
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

/** What lies compressed in a page, as text. */
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

describe('what names a machine or a person', () => {
  it('is in every text of the session that is exported here', () => {
    expect(JSON.stringify(marked().session).match(/frosthost17/g)!.length).toBeGreaterThan(100)
  })

  it.each(texts(marked()))('does not leave as %s', (_format, text) => {
    // TeX and Markdown may set a mark between letters of what they escape.
    for (const form of [text, text.replaceAll(/\\(?=[_-])|-\{\}|\{\}/g, '')])
      expect(secrets.exec(form)?.[0]).toBeUndefined()
  })

  it('is taken out of a sentence also where this machine does not know the names', () => {
    const { sentence, source } = scrubber(noPrivates)
    const known = /secret-|deadbeef|SN7654321|1320123456789|lab\.example/
    expect(sentence(marker)).not.toMatch(known)
    expect(source(marker)).not.toMatch(/secret-|deadbeef|lab\.example/)
    expect(sentence('nvcc: /home/mallory/a.cu: no such file')).toBe('nvcc: <path>: no such file')
  })

  it('does not take anything out of a shipped recording', () => {
    const { session, sources } = recording()
    const { source: scrub } = scrubber(privates)
    expect(JSON.parse(report({ session, sources }, { format: 'json' }, privates))).toEqual(session)
    for (const source of Object.values(sources)) expect(scrub(source)).toBe(source)
  })

  it('costs a long hostile text no more than its length', () => {
    const { sentence } = scrubber(privates)
    const started = performance.now()
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
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('leaves code alone that reads like a name', () => {
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
  ])('leaves %j alone', (text) => {
    expect(scrubber(privates).sentence(text)).toBe(text)
  })
})
