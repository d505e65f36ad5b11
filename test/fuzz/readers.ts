/** Every reader of what the program did not write itself, with real inputs to damage. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { parseSession } from '../../src-main/adapters/sessions/session-store'
import { cubinsOf } from '../../src-main/parsers/cubin/fatbin'
import { readCubin } from '../../src-main/parsers/cubin/cubin'
import {
  lastSanitizerWord,
  parseSanitizerSummary,
  parseSanitizerXml,
} from '../../src-main/parsers/cuda/compute-sanitizer'
import { parseProbedLaunches } from '../../src-main/parsers/cuda/launch-probe'
import { parseNvidiaSmi, redactNvidiaSmi } from '../../src-main/parsers/cuda/nvidia-smi'
import { parseNvccOutput } from '../../src-main/parsers/cuda/ptxas'
import { parseRunnerLine } from '../../src-main/parsers/cuda/runner-events'
import {
  parseLadderFile,
  parseLadderDocument,
  parseTask,
} from '../../src-main/parsers/kernels/ladder'
import { copyHeader, parseRungHeader } from '../../src-main/parsers/kernels/rung-header'
import { parseAnswers } from '../../src-main/parsers/labs/lab-answers'
import { ladderPathIn, parseLab } from '../../src-main/parsers/labs/lab'
import { parseNcuRawCsv, type NcuLaunch } from '../../src-main/parsers/ncu/ncu-csv'
import { readNcuCsv } from '../../src-main/parsers/ncu/ncu-csv-stream'
import {
  ncuMessages,
  recognizeNcuFailure,
  unknownMetrics,
} from '../../src-main/parsers/ncu/ncu-failure'
import { toMetrics } from '../../src-main/parsers/ncu/ncu-metrics'
import { parseNcuRep } from '../../src-main/parsers/ncu/ncu-rep'
import { parseRules } from '../../src-main/parsers/ncu/ncu-details'
import { parseSourcePage } from '../../src-main/parsers/ncu/ncu-source'
import {
  parseDrawnPage,
  placesInPdf,
  stablePdf,
  parseReportHtml,
} from '../../src-main/parsers/report/report'
import { instructionsOf } from '../../src-main/domain/emulator/rung'
import { controlFlow } from '../../src-main/domain/sass/control-flow'
import { listingOf } from '../../src-main/domain/sass/listing'
import { liveRegisters } from '../../src-main/domain/sass/live-registers'
import { parseExpression } from '../../src-main/domain/task/expression'
import { gemm } from '../support'
import { capture, captures, ncuCapture, ncuReport } from '../parsers/captures'

export interface Reader {
  name: string
  seeds: () => (string | Uint8Array)[]
  /** What was read; a number in it that is none is a misread. */
  read: (input: never) => unknown
  /** How a library says that its input is damaged, where that is passed on. */
  says?: RegExp
}

const root = join(import.meta.dirname, '../..')
const file = (path: string): string => readFileSync(join(root, path), 'utf8')
const both = (name: string): string => {
  const { stdout, stderr = '' } = capture(name)
  return `${stderr}\n${stdout}`
}

const text = (
  name: string,
  seeds: () => string[],
  read: (input: string) => unknown,
  says?: RegExp,
): Reader => ({ name, seeds, read, ...(says ? { says } : {}) })

async function stream(csv: string) {
  const launches: NcuLaunch[] = []
  async function* chunks(): AsyncGenerator<string> {
    for (let at = 0; at < csv.length; at += 4096)
      yield await Promise.resolve(csv.slice(at, at + 4096))
  }
  const read = await readNcuCsv(chunks(), (launch) => launches.push(launch) < 500)
  return { read, metrics: toMetrics(launches, 'standard') }
}

const pages = ['standard-mix', 'import-five-kernels', 'import-details', 'set-full']
const labs = ['01-coalescing', '03-waves', '12-tensor-cores']
const answersOf = {
  predictions: [{ id: 'loads' }, { id: 'sectors' }],
  questions: [{ id: 'blocks' }],
} as unknown as Parameters<typeof parseAnswers>[2]

export const readers: readonly Reader[] = [
  text(
    'rung header',
    () =>
      ['01_naive', '06_float4', '20_fused_epilogue', '55_wgmma_tma'].map((id) =>
        file(`cuda-kernels/gemm/${id}.cu`),
      ),
    (source) => [
      parseRungHeader(source, 'gemm/x.cu', gemm),
      copyHeader(source, { rung: 'a', title: 'b', after: 'c', idea: 'd' }),
    ],
  ),
  text(
    'ladder folder',
    () =>
      ['softmax', 'blank', 'reduction', 'histogram'].map((name) =>
        file(`resources/templates/${name}/ladder.yaml`),
      ),
    (yaml) => parseLadderDocument(yaml, 'ladder.yaml').ladder,
  ),
  text(
    'ladder file',
    () => ['gemm-fp32', 'seed-t4'].map((id) => file(`cuda-kernels/gemm/ladders/${id}.json`)),
    (json) => parseLadderFile(json, 'x.json', new Map([['gemm', gemm]])),
  ),
  text(
    'task',
    () => ['gemm', 'scan', 'transpose'].map((task) => file(`cuda-kernels/${task}/task.yaml`)),
    (yaml) => parseTask(yaml, 'task.yaml').id,
  ),
  text(
    'expression',
    () => [
      '4 * m * n + min(k, 8) / 2',
      'ceil(log2(n)) * (a ^ 2) - -3',
      'dtype.bytes * sqrt(m % 7)',
    ],
    (expression) => parseExpression(expression),
    /^ExpressionError/,
  ),
  text(
    'lab',
    () => labs.map((lab) => file(`cuda-kernels/labs/${lab}/lab.md`)),
    (markdown) => [
      parseLab(markdown, 'lab.md', {
        ladders: new Map(),
        rungs: new Map(),
        tasks: new Map(),
      } as never).faults,
      ladderPathIn(markdown),
    ],
  ),
  text(
    'answers',
    () => [
      'predictions:\n  loads: { direction: up, factor: 2 }\n  sectors: down\nquestions:\n  blocks: 3\n',
      '# a comment\nquestions: { blocks: "1e3" }\n',
    ],
    (yaml) => parseAnswers(yaml, 'answers.yaml', answersOf),
  ),
  text(
    'nvcc',
    () => Object.keys(captures('nvcc/13.0.88')).map((name) => both(`nvcc/13.0.88/${name}`)),
    parseNvccOutput,
  ),
  text(
    'nvidia-smi',
    () => [capture('nvidia-smi/580.159.04-h200/query-xml').stdout],
    (xml) => [redactNvidiaSmi(xml).length, parseNvidiaSmi(xml)],
  ),
  text(
    'compute-sanitizer',
    () =>
      Object.values(captures('compute-sanitizer/2025.3.1-h200')).flatMap(({ saved, stdout }) => [
        stdout,
        ...(saved === undefined ? [] : [saved]),
      ]),
    (xml) => [parseSanitizerSummary(xml), lastSanitizerWord(xml), parseSanitizerXml(xml)],
  ),
  text(
    'runner events',
    () => [
      ...eventLines(),
      '{"event":"pair","rung":"a","against":"a@old","newMs":[1,2],"oldMs":[1,2],"copyMs":[1,2],"newCycles":[1,null],"oldCycles":[2,3],"smClockBeforeMHz":1980,"smClockAfterMHz":null}',
    ],
    (lines) => lines.split('\n').map(parseRunnerLine),
  ),
  text(
    'launch probe',
    () => [file('test/captures/launch-probe/13.0.88/h200.json')],
    parseProbedLaunches,
  ),
  text('ncu CSV', () => pages.map(ncuCapture), stream),
  text(
    'ncu CSV of a run',
    () => pages.map(ncuCapture),
    parseNcuRawCsv,
    /CsvError|Quote|Delimiter/i,
  ),
  text(
    'ncu rules',
    () => [ncuCapture('import-details')],
    (csv) => [...parseRules(csv)],
    /CsvError|Quote|Delimiter/i,
  ),
  text(
    'ncu source page',
    () => [ncuCapture('source-cuda-sass')],
    (csv) => parseSourcePage(csv).sections.map(({ unreadable }) => unreadable),
    /CsvError|Quote|Delimiter/i,
  ),
  text(
    'ncu messages',
    () =>
      ['no-kernels', 'unknown-metric', 'not-an-executable', 'no-nvtx'].map((name) =>
        both(`ncu/2025.3.1-h200/${name}`),
      ),
    (log) => [ncuMessages(log), unknownMetrics(log), recognizeNcuFailure(log, 1)],
  ),
  {
    name: 'ncu report',
    seeds: () => [ncuReport('launches-two-rungs')],
    read: ((bytes: Uint8Array) => toMetrics(parseNcuRep(bytes).launches, 'standard')) as never,
  },
  {
    name: 'machine code',
    seeds: () => [
      new Uint8Array(
        brotliDecompressSync(readFileSync(join(import.meta.dirname, 'tile.fatbin.br'))),
      ),
    ],
    read: ((bytes: Uint8Array) =>
      cubinsOf(bytes).map((cubin) => readCubin(cubin).kernels.length)) as never,
  },
  {
    name: 'instructions',
    seeds: () => {
      const whole = brotliDecompressSync(readFileSync(join(import.meta.dirname, 'tile.fatbin.br')))
      return cubinsOf(new Uint8Array(whole)).flatMap((cubin) =>
        readCubin(cubin).kernels.map(({ code }) => new Uint8Array(code)),
      )
    },
    read: ((code: Uint8Array) => {
      const { instructions, unknown } = listingOf({ code, lines: [] }, 90, (path) => path)
      return [
        unknown.length,
        controlFlow(instructions).branches,
        liveRegisters(instructions),
        instructionsOf(code, 90).length,
      ]
    }) as never,
  },
  text(
    'session',
    () => [...rowsOf('sessions', 'softmax-lab-h200'), ...rowsOf('sessions', 'gemm-fp32-h200-1024')],
    (json) => parseSession(json, 'session.json').rungs.length,
  ),
  text(
    'HTML report',
    () => [file('test/captures/version-1/report.html')],
    (html) => parseReportHtml(html, 'report.html').report.sessions.length,
  ),
  text(
    'drawn page',
    () => [
      '<html><body><main><h2>Roofline</h2></main><pre id="kernel-ladder-drawing-0" data-label="a">&lt;svg a="&amp;lt;b"&gt;&lt;/svg&gt;</pre></body></html>',
    ],
    (dom) => parseDrawnPage(dom, 2),
  ),
  {
    name: 'PDF',
    seeds: () => [
      new TextEncoder().encode(
        '%PDF-1.7\n1 0 obj<</Type/Page/CreationDate (D:20260101)>>endobj\n<</Dest/a [3 0 R /XYZ 0 0 0]>>\ntrailer',
      ),
    ],
    read: ((bytes: Uint8Array) => [
      placesInPdf(bytes).size,
      stablePdf(bytes, new Date(0)).length,
    ]) as never,
  },
]

/** The rows of a recording that ships, as the texts that they are without its name. */
function rowsOf(table: 'sessions' | 'raw', recording: string): string[] {
  const ladder = recording.replace(/-h200.*/, '')
  return file(`resources/recordings/${table === 'raw' ? `raw/${ladder}` : table}.jsonl`)
    .split('\n')
    .filter((line) => line.startsWith(`{"session":"${recording}"`))
    .map((line) => line.replace(`"session":"${recording}",`, ''))
}

function eventLines(): string[] {
  return rowsOf('raw', 'softmax-lab-h200').flatMap((row) => {
    const { key, stdout } = JSON.parse(row) as { key: string; stdout: unknown }
    return key.startsWith('runner/') && typeof stdout === 'string' ? [stdout] : []
  })
}
