/** Fuzzes the readers of user files: ladders, labs, sessions, reports, and tuner results. */
import { parseSession } from '../../src-main/adapters/sessions/session-store'
import { normalizedTokens } from '../../src-main/domain/labs/similarity'
import { parseExpression } from '../../src-main/domain/task/expression'
import { parseParams } from '../../src-main/hosts/cli/parse-run-request'
import { parseJsonWithin } from '../../src-main/parsers/json-within'
import { parseConstant, parseRule } from '../../src-main/parsers/kernels/integer-constants'
import {
  parseLadderDocument,
  parseProgramLadder,
} from '../../src-main/parsers/kernels/ladder-document'
import { parseRungHeader } from '../../src-main/parsers/kernels/rung-header'
import { parseAnswers } from '../../src-main/parsers/labs/lab-answers'
import { ladderPathIn, parseLab, readLabText } from '../../src-main/parsers/labs/lab'
import { parseReportHtml } from '../../src-main/parsers/report/report-html'
import { gemm } from '../support'
import { alike, bytes, file, sessionText, text, type Reader } from './reader'
import { lean } from './mutate'
import { pointsOfT4, T4Results } from '../../src-main/domain/tune/t4'
import { parseLadderFile } from '../../src-main/parsers/kernels/ladder-file'
import { parseTask } from '../../src-main/parsers/kernels/task-file'
import { copyHeader } from '../../src-main/parsers/kernels/rung-header-edit'
import { parseDrawnPage } from '../../src-main/parsers/report/drawn-page'
import { placesInPdf, stablePdf } from '../../src-main/parsers/report/pdf'
import { parseDeep } from '../../src-main/adapters/sessions/deep-profiles'

const labs = ['01-coalescing', '03-waves', '12-tensor-cores']
const answersOf = {
  predictions: [{ id: 'loads' }, { id: 'sectors' }],
  questions: [{ id: 'blocks' }],
} as unknown as Parameters<typeof parseAnswers>[2]

const rungFiles = (): string[] =>
  ['01_naive', '06_float4', '23_fused_epilogue', '56_wgmma_tma'].map((id) =>
    file(`cuda-kernels/gemm/${id}.cu`),
  )

/** Returns a function that truncates a text to its first lines, such as a rung's header. */
const beginning = (lines: number) => (whole: string) => whole.split('\n').slice(0, lines).join('\n')

const withoutComments = (yaml: string): string => yaml.replaceAll(/^\s*#.*\n/gm, '')

const ladder = `kernel_ladder: 1
id: a
title: Sum
summary: Sums.
task:
  sizes: { N: 1024 }
  buffers:
    x: { dtype: f32, shape: [N], access: in, fill: { kind: uniform, lo: 0, hi: 1 } }
    y: { dtype: f64, shape: [1], access: out }
  reference: r.cu
  check: { y: { rtol: 1e-6, atol: 0 } }
  work: { flops: N, reads: 4 * N, writes: 8 }
rungs:
  - id: 01_a
`

const programs = `kernel_ladder: 1
id: p
title: Block
summary: Before and after.
programs: { runs: 5 }
rungs:
  - id: before
    title: Before
    program: [python3, block.py]
  - id: after
    title: Fused
    after: before
    program: [python3, block.py, --fused]
`

const lab = `---
title: Coalescing
summary: Swap two indices.
order: 1
ladder: gemm-fp32
before: 01_naive
target: 02_coalesced
size: { m: 64, n: 64, k: 64 }
checks:
  - { id: fast, title: Faster, kind: time, below: { rung: 01_naive, factor: 0.2 } }
---
## Task

Take \`row\`.
`

const libraryOfLabs = { ladders: new Map(), rungs: new Map(), tasks: new Map() } as never

/** Returns a session that has one rung and a few figures. */
const smallSession = (): unknown => lean(JSON.parse(sessionText('softmax-lab-h200')), 1, 10)

const page = (report: unknown): string =>
  `<!doctype html>\n<title>Report</title>\n<script type="application/json" id="kernel-ladder-report">${JSON.stringify(report).replaceAll('<', String.raw`\u003c`)}</script>\n`

/** Returns an HTML report of one session. */
const reportPage = (session: unknown): string =>
  page({ report: 2, date: null, sections: [], sessions: [{ session, sources: {} }] })

const counted = { executed: 1, threadExecuted: 32, samples: 4, notIssuedSamples: 2 }
const notCounted = {
  ...{ sharedWavefronts: null, sharedWavefrontsIdeal: null, sharedWavefrontsExcess: null },
  ...{
    globalL1Requests: null,
    globalL2Sectors: 8,
    globalL2SectorsIdeal: 4,
    globalL2SectorsExcess: 4,
  },
}

const deep = JSON.stringify({
  schema: 2,
  rung: '01_naive',
  kernels: [
    {
      name: 'k',
      instructions: [
        {
          ...{
            index: 0,
            offset: 0,
            text: 'LDG.E R1, [R2]',
            opcode: 'LDG.E',
            file: 'a.cu',
            line: 3,
          },
          ...{ ...counted, ...notCounted, stalls: { long_sb: 2 } },
        },
      ],
      lines: [{ file: 'a.cu', line: 3, text: 'a = b', ...counted, ...notCounted, stalls: null }],
      opcodes: { 'LDG.E': 1 },
      rules: [
        {
          ...{ section: 'S', name: 'R', kind: 'info', text: 't' },
          ...{ estimatedSpeedup: 1.5, speedupType: 'global' },
        },
      ],
    },
  ],
  notes: [],
})

const t4 = JSON.stringify({
  schema_version: '1.0.0',
  results: [
    {
      configuration: { TM: 4, TN: 8 },
      times: { runtimes: [1.5, 2] },
      invalidity: 'correct',
      correctness: 1,
      measurements: [{ name: 'time', value: 1.5, unit: 'ms' }],
    },
  ],
})

/** Checks that a document is unchanged after it is written and read again. */
const again = <T>(what: string, read: (text: string) => T, json: string): T => {
  const value = read(json)
  alike(what, read(JSON.stringify(value)), value)
  return value
}

export const readersOfFiles: readonly Reader[] = [
  text(
    'rung header',
    () => rungFiles().map(beginning(30)),
    (source) => [
      parseRungHeader(source, 'gemm/x.cu', gemm),
      copyHeader(source, { rung: 'a', title: 'b', after: 'c', idea: 'd' }),
    ],
    { large: rungFiles },
  ),
  text(
    'ladder folder',
    () => [ladder],
    (yaml) => parseLadderDocument(yaml, 'ladder.yaml').ladder,
    {
      large: () =>
        ['softmax', 'blank', 'reduction', 'histogram'].map((name) =>
          file(`resources/templates/${name}/ladder.yaml`),
        ),
    },
  ),
  text(
    'ladder of programs',
    () => [programs],
    (yaml) => parseProgramLadder(yaml, 'ladder.yaml'),
  ),
  text(
    'ladder file',
    () =>
      [
        file('cuda-kernels/gemm/ladders/gemm-fp32.json'),
        file('cuda-kernels/gemm/ladders/seed-t4.json'),
      ].map((json) => JSON.stringify(lean(JSON.parse(json), 3))),
    (json) => parseLadderFile(json, 'x.json', new Map([['gemm', gemm]])),
    {
      large: () =>
        ['gemm-fp32', 'seed-t4'].map((id) => file(`cuda-kernels/gemm/ladders/${id}.json`)),
    },
  ),
  text(
    'task',
    () =>
      ['reduction', 'transpose'].map((task) =>
        withoutComments(file(`cuda-kernels/${task}/task.yaml`)),
      ),
    (yaml) => parseTask(yaml, 'task.yaml').id,
    {
      large: () =>
        ['gemm', 'scan', 'transpose'].map((task) => file(`cuda-kernels/${task}/task.yaml`)),
    },
  ),
  text(
    'expression',
    () => [
      '4 * m * n + min(k, 8) / 2',
      'ceil(log2(n)) * (a ^ 2) - -3',
      'dtype.bytes * sqrt(m % 7)',
    ],
    (expression) => parseExpression(expression),
    { says: /^ExpressionError/ },
  ),
  text(
    'constants and rules',
    () => ['TM * TN <= 255 && TM % 4 == 0', '(1 << 20) / sizeof_x', '0x1F | 7u', '-3 + !0'],
    (rule) => [parseConstant(rule)?.names, parseRule(rule, new Set(['TM', 'TN'])) === null],
  ),
  text(
    'parameters',
    () => ['TM=4 TN=8', '06_float4.BK=16', 'TM=-3'],
    (words) => parseParams(words.split(' ')),
  ),
  text(
    'lab',
    () => [lab],
    (markdown) => {
      const read = readLabText(markdown)
      return [parseLab(read, 'lab.md', libraryOfLabs).faults, ladderPathIn(read)]
    },
    { large: () => labs.map((id) => file(`cuda-kernels/labs/${id}/lab.md`)) },
  ),
  text(
    'answers',
    () => [
      'predictions:\n  loads: { direction: up, factor: 2 }\n  sectors: { direction: down }\nquestions:\n  blocks: 3\n',
      '# a comment\nquestions: { blocks: 1e3 }\n',
    ],
    (yaml) => parseAnswers(yaml, 'answers.yaml', answersOf),
  ),
  text(
    'submission',
    () => rungFiles().map(beginning(40)),
    (source) => normalizedTokens(source).length,
    { large: rungFiles },
  ),
  text(
    'session',
    () => [JSON.stringify(smallSession())],
    (json) => again('a session', (one) => parseSession(one, 'session.json'), json).rungs.length,
    {
      large: () => ['softmax-lab-h200', 'gemm-fp32-h200-1024'].map(sessionText),
    },
  ),
  text(
    'deep profile',
    () => [deep],
    (json) => again('a profile', (one) => parseDeep(one, 'deep/a.json'), json),
  ),
  text(
    'HTML report',
    () => [reportPage(smallSession())],
    (html) => parseReportHtml(html, 'report.html').report.sessions.length,
    { large: () => [reportPage(JSON.parse(sessionText('gemm-fp32-h200-1024')))] },
  ),
  text(
    'results of a tuner',
    () => [t4],
    (json) => {
      const parsed = parseJsonWithin(json)
      const results = 'value' in parsed ? T4Results.safeParse(parsed.value).data : undefined
      return results && pointsOfT4(results, ['TM', 'TN'])
    },
  ),
  text(
    'drawn page',
    () => [
      '<html><body><main><h2>Roofline</h2></main><pre id="kernel-ladder-drawing-0" data-label="a">&lt;svg a="&amp;lt;b"&gt;&lt;/svg&gt;</pre></body></html>',
    ],
    (dom) => parseDrawnPage(dom, 2),
  ),
  bytes(
    'PDF',
    () => [
      new TextEncoder().encode(
        '%PDF-1.7\n1 0 obj<</Type/Page/CreationDate (D:20260101)>>endobj\n<</Dest/a [3 0 R /XYZ 0 0 0]>>\ntrailer',
      ),
    ],
    (pdf) => [placesInPdf(pdf).size, stablePdf(pdf, new Date(0)).length],
  ),
]
