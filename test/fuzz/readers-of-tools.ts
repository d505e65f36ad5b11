/** Fuzzes the readers of output from compilers, profilers, and GPU programs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { instructionsOf } from '../../src-main/domain/emulator/rung'
import { controlFlow } from '../../src-main/domain/sass/control-flow'
import { readCubin } from '../../src-main/parsers/cubin/cubin'
import {
  lastSanitizerWord,
  parseSanitizerSummary,
  parseSanitizerXml,
} from '../../src-main/parsers/cuda/compute-sanitizer'
import { parseRunnerLine } from '../../src-main/parsers/cuda/runner-events'
import { parseNvidiaSmi, redactNvidiaSmi } from '../../src-main/parsers/cuda/nvidia-smi'
import { parseNvccOutput } from '../../src-main/parsers/cuda/ptxas'
import { parseNcuRawCsv, type NcuLaunch } from '../../src-main/parsers/ncu/ncu-csv'
import { readNcuCsv } from '../../src-main/parsers/ncu/ncu-csv-stream'
import {
  ncuMessages,
  recognizeNcuFailure,
  unknownMetrics,
} from '../../src-main/parsers/ncu/ncu-failure'
import { toMetrics } from '../../src-main/parsers/ncu/ncu-metrics'
import { parseNcuRep } from '../../src-main/parsers/ncu/ncu-rep'
import { parseSourcePage } from '../../src-main/parsers/ncu/ncu-source'
import { parseNcuCell } from '../../src-main/parsers/ncu/ncu-values'
import { capture, captures, ncuCapture, ncuReport } from '../captures'
import { alike, both, bytes, file, root, text, type Reader } from './reader'
import { fewColumns, smallReport, withoutElements } from './mutate'
import {
  distinctTitles,
  parseKernelName,
  shortName,
} from '../../src-main/domain/programs/kernel-names'
import { liveRegisters } from '../../src-main/domain/sass/live-registers'
import { listingOf } from '../../src-main/domain/sass/listing'
import { cubinsOf } from '../../src-main/parsers/cubin/fat-binary'
import { parseRules } from '../../src-main/parsers/ncu/ncu-advice'
import {
  parseExpected,
  parseProbedLaunches,
  parseProbedReference,
} from '../../src-main/parsers/cuda/launch-probe'

const pages = ['standard-mix', 'import-five-kernels', 'import-details', 'set-full']

const csvErrors = { says: /CsvError|Quote|Delimiter/i }

async function stream(csv: string) {
  const launches: NcuLaunch[] = []
  async function* chunks(): AsyncGenerator<string> {
    for (let at = 0; at < csv.length; at += 4096)
      yield await Promise.resolve(csv.slice(at, at + 4096))
  }
  const read = await readNcuCsv(chunks(), (launch) => launches.push(launch) < 500)
  return { read, metrics: toMetrics(launches, 'standard') }
}

/** Returns the fatbin in a kernel's library. */
const container = (): Uint8Array =>
  new Uint8Array(brotliDecompressSync(readFileSync(join(import.meta.dirname, 'tile.fatbin.br'))))

const cubins = (): Uint8Array[] => cubinsOf(container())

const codeOf = (cubin: Uint8Array): Uint8Array[] =>
  readCubin(cubin).kernels.map(({ code }) => new Uint8Array(code))

/** Splits the program into pieces of 24 instructions of 16 bytes each. */
const stretches = (code: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.max(1, Math.floor(code.length / 384)) }, (_, at) =>
    code.slice(at * 384, at * 384 + 384),
  )

const smi = () => capture('nvidia-smi/580.159.04-h200/query-xml').stdout

const unread = (
  'display_mode display_attached display_active addressing_mode mig_devices accounting_mode accounting_mode_buffer_size ' +
  'driver_model pdi minor_number vbios_version multigpu_board board_id platformInfo inforom_version inforom_bbx_flush ' +
  'gpu_operation_mode c2c_mode gpu_virtualization_mode gpu_recovery_action gsp_firmware_version ibmnpu fan_speed ' +
  'clocks_event_reasons clocks_event_reasons_counters sparse_operation_mode bar1_memory_usage cc_protected_memory_usage ' +
  'utilization encoder_stats fbc_stats dram_encryption_mode ecc_errors retired_pages remapped_rows supported_gpu_target_temp ' +
  'gpu_memory_power_readings module_power_readings power_smoothing power_profiles applications_clocks ' +
  'default_applications_clocks deferred_clocks max_customer_boost_clocks clock_policy fabric supported_clocks ' +
  'accounted_processes capabilities pci_gpu_link_info pci_bridge_chip'
).split(' ')

/**
 * Returns the runner's output lines in a recording. Skips the first line of the file, which is the
 * checksum.
 */
const eventLines = (): string[] => {
  const packed = readFileSync(join(root, 'resources/recordings/raw/softmax-lab-h200.jsonl.br'))
  const [, ...rows] = brotliDecompressSync(packed).toString('utf8').trim().split('\n')
  return rows.flatMap((row) => {
    const { key, stdout } = JSON.parse(row) as { key: string; stdout: unknown }
    return key.startsWith('runner/') && typeof stdout === 'string' ? [stdout] : []
  })
}

const pair =
  '{"event":"pair","rung":"a","against":"a@old","newMs":[1,2],"oldMs":[1,2],"copyMs":[1,2],"newCycles":[1,null],"oldCycles":[2,3],"smClockBeforeMHz":1980,"smClockAfterMHz":null}'

/** Returns one event of each kind. */
const oneOfEach = (): string[] => {
  const kinds = new Map<string, string>()
  for (const line of eventLines().join('\n').split('\n')) {
    const kind = /"event":\s*"(\w+)"/.exec(line)?.[1]
    if (kind !== undefined && line.length < 2000) kinds.set(kind, line)
  }
  return [...kinds.values(), pair]
}

const probedLaunches = (): string[] => {
  const { rungs } = JSON.parse(file('test/captures/launch-probe/13.0.88/h200.json')) as {
    rungs: { probed: { name: string; grid: number[]; block: number[] }[] }[]
  }
  const memory = [{ before: 0, to: '4096', value: 0, bytes: 64 }]
  const rest = { reason: null, fault: null, memory, workspaceBytes: 16, symbols: ['a'] }
  return rungs.slice(0, 6).map(({ probed }) => {
    const kernels = probed.map(({ name, grid, block }) => ({
      ...{ name, mangled: '_Z1a', grid, block, dynamicSharedBytes: 0, clusterBlocks: 0 },
      arguments: '00ff',
    }))
    return JSON.stringify({ event: 'launches', kernels, ...rest })
  })
}

const names = [
  'void tile<(int)32, (ns::Kind)1>(const float *, int)',
  'void at::native::<unnamed>::CatArrayBatchedCopy<at::native::OpaqueType<(unsigned int)4>, unsigned int, (int)2, (int)128, (int)1>(T1 *, int)',
  'a::operator()<b->c, (x < y)>(void (*)(int), ...)',
  'ampere_sgemm_128x64_tn',
]

export const readersOfTools: readonly Reader[] = [
  text(
    'nvcc',
    () => Object.keys(captures('nvcc/13.0.88')).map((name) => both(`nvcc/13.0.88/${name}`)),
    (output) => {
      const { kernels, diagnostics } = parseNvccOutput(output)
      // Omit the size of constant memory, because the reader adds the sizes of the banks, and the
      // sum is not in the text.
      return { kernels: kernels.map(({ constantBytes: _sum, ...kernel }) => kernel), diagnostics }
    },
    { literal: true },
  ),
  text(
    'nvidia-smi',
    () => [withoutElements(smi(), unread)],
    (xml) => [redactNvidiaSmi(xml).length, parseNvidiaSmi(xml)],
    { large: () => [smi()] },
  ),
  text(
    'compute-sanitizer',
    () =>
      ['racecheck-race', 'memcheck-clean', 'memcheck-print-limit'].flatMap((name) => {
        const { stdout, saved = '' } = capture(`compute-sanitizer/2025.3.1-h200/${name}`)
        return [stdout, saved]
      }),
    (xml) => [parseSanitizerSummary(xml), lastSanitizerWord(xml), parseSanitizerXml(xml)],
    {
      large: () =>
        Object.values(captures('compute-sanitizer/2025.3.1-h200')).flatMap(({ saved, stdout }) => [
          stdout,
          saved ?? '',
        ]),
    },
  ),
  text('runner events', oneOfEach, (lines) => lines.split('\n').map(parseRunnerLine), {
    large: eventLines,
  }),
  text(
    'launch probe',
    () => [
      ...probedLaunches(),
      '{"event":"reference","reason":"no kl_reference"}\n',
      '{"event":"expected"}',
    ],
    (lines) => [
      parseProbedLaunches(lines),
      parseProbedReference(lines)?.reason,
      parseExpected(lines),
    ],
  ),
  text(
    'ncu CSV',
    () => [
      fewColumns(ncuCapture('standard-mix'), { step: 16, rows: 4 }),
      fewColumns(ncuCapture('import-five-kernels'), { step: 150, rows: 4 }),
      fewColumns(ncuCapture('import-details'), { step: 1, rows: 8 }),
    ],
    stream,
    { large: () => pages.map(ncuCapture) },
  ),
  text(
    'ncu CSV of a run',
    () => [
      fewColumns(ncuCapture('standard-mix'), { step: 16, rows: 4 }),
      fewColumns(ncuCapture('launches-two-rungs'), { step: 16, rows: 4 }),
    ],
    parseNcuRawCsv,
    { ...csvErrors, large: () => pages.map(ncuCapture) },
  ),
  text(
    'ncu cell',
    () => [
      '1234.5',
      '1,234,567',
      '-0.25',
      '1.5e-3',
      'n/a',
      '18,446,744,073,709,551,615',
      '(!) n/a',
    ],
    (cell) => {
      const value = parseNcuCell(cell)
      if (/^-?\d{1,15}(\.\d{1,9})?$/.test(cell)) alike('a plain number', value, Number(cell))
      return value
    },
  ),
  text(
    'ncu rules',
    () => [fewColumns(ncuCapture('import-details'), { step: 1, rows: 12 })],
    (csv) => [...parseRules(csv)],
    { ...csvErrors, large: () => [ncuCapture('import-details')] },
  ),
  text(
    'ncu source page',
    () => [fewColumns(ncuCapture('source-cuda-sass'), { step: 1, rows: 8 })],
    (csv) => parseSourcePage(csv).sections.map(({ unreadable }) => unreadable),
    { ...csvErrors, large: () => [ncuCapture('source-cuda-sass')] },
  ),
  text(
    'ncu messages',
    () => ['no-kernels', 'not-an-executable'].map((name) => both(`ncu/2025.3.1-h200/${name}`)),
    (log) => [ncuMessages(log), unknownMetrics(log), recognizeNcuFailure(log, 1)],
    { large: () => ['unknown-metric', 'no-nvtx'].map((name) => both(`ncu/2025.3.1-h200/${name}`)) },
  ),
  bytes(
    'ncu report',
    () => [smallReport(ncuReport('launches-two-rungs'))],
    (report) => toMetrics(parseNcuRep(report).launches, 'standard'),
    { large: () => [ncuReport('launches-two-rungs')] },
  ),
  text(
    'kernel names',
    () => names,
    (name) => [
      parseKernelName(name),
      shortName(name),
      distinctTitles([
        { name, grid: [1, 2, 3], block: null },
        { name, grid: null, block: [1, 1, 1] },
      ]),
    ],
  ),
  bytes('machine code', cubins, (cubin) => readCubin(cubin).kernels.length),
  bytes(
    'container',
    () => [container()],
    (fatbin) => cubinsOf(fatbin).length,
  ),
  bytes(
    'instructions',
    () => cubins().flatMap(codeOf).flatMap(stretches),
    (code) => {
      const { instructions, unknown } = listingOf({ code, lines: [] }, 90, (path) => path)
      return [
        unknown.length,
        controlFlow(instructions).branches,
        liveRegisters(instructions),
        instructionsOf(code, 90).length,
      ]
    },
    { large: () => cubins().flatMap(codeOf) },
  ),
]
