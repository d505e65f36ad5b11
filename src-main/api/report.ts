/**
 * Reads Nsight Compute reports: kernels with every metric, and their code with counters per line
 * and instruction.
 */
import { lineHeat, type DeepKernel } from '../domain/session/deep'
import { inEnglish } from '../domain/text/english'
import { parseNcuRawCsv, type NcuLaunch } from '../parsers/ncu/ncu-csv'
import { launchMs } from '../parsers/ncu/ncu-metrics'
import { parseNcuRep } from '../parsers/ncu/ncu-rep'
import type { Code } from './code'
import { codeOf, decodesBy, deepOf } from './decoded'

/** One ncu metric. The unit is ncu's base unit: `ns`, `byte`, `inst`, `%`, or empty. */
export interface Metric {
  /** Metric value; null if ncu reports none for this launch. */
  value: number | string | null
  unit: string
}

/** One launch of a kernel. */
export interface Kernel {
  name: string
  grid: [number, number, number] | null
  block: [number, number, number] | null
  /** Innermost NVTX range around the launch. */
  range: string | null
  /** Time under ncu in milliseconds; null if not collected. */
  ms: number | null
  /** Compute capability, such as `9.0`; null if the report does not state it. */
  computeCapability: string | null
  /** Metrics by ncu's name, such as `sm__throughput.avg.pct_of_peak_sustained_elapsed`. */
  metrics: Readonly<Record<string, Metric>>
  /**
   * Decodes the machine code and its counters on every call. Returns null if the report has no
   * code.
   */
  code(): Code | null
}

export interface Report {
  /** Kernels in launch order. */
  kernels: Kernel[]
  /** Parts of the report that could not be read, one sentence each. */
  notes: string[]
  /** ncu version, such as `2025.3.1.0`; null if the file does not state it. */
  ncuVersion: string | null
  createdAt: Date | null
}

function kernelOf(launch: NcuLaunch, decode: () => DeepKernel | null): Kernel {
  const kernel: Kernel = {
    name: launch.kernelName,
    grid: launch.grid,
    block: launch.block,
    range: launch.rung,
    ms: launchMs(launch),
    computeCapability: launch.computeCapability,
    metrics: launch.metrics,
    code() {
      const deep = deepOf(kernel)
      return deep === null ? null : codeOf(deep)
    },
  }
  decodesBy(kernel, decode)
  return kernel
}

/**
 * Reads a `.ncu-rep` file. For a truncated file, returns the complete launches and a note.
 *
 * @throws {KernelLadderError} if the bytes are not an ncu report
 * @example
 * ```js
 * import { readFile } from 'node:fs/promises'
 * import { readNcuRep } from 'kernel-ladder'
 *
 * const { kernels } = readNcuRep(await readFile(process.argv[2]))
 * for (const { name, ms } of kernels) console.log(name, ms)
 * ```
 */
export function readNcuRep(bytes: Uint8Array): Report {
  const { launches, notes, ncuVersion, createdAt, codeOf: codeOfLaunch } = parseNcuRep(bytes)
  return {
    kernels: launches.map((launch) =>
      kernelOf(launch, () => codeOfLaunch(launch, (path) => path)?.kernel ?? null),
    ),
    notes: notes.map((note) => inEnglish(note)),
    ncuVersion,
    createdAt,
  }
}

/**
 * Reads the CSV that `ncu --import FILE --page raw --csv` prints. The CSV has metrics but no
 * code.
 *
 * @throws {KernelLadderError} if the text contains no ncu table
 * @example
 * ```js
 * import { readFile } from 'node:fs/promises'
 * import { readNcuCsv } from 'kernel-ladder'
 *
 * const { kernels } = readNcuCsv(await readFile(process.argv[2], 'utf8'))
 * for (const { name, metrics } of kernels)
 *   console.log(name, metrics['launch__registers_per_thread']?.value)
 * ```
 */
export function readNcuCsv(text: string): Report {
  const { launches, notes } = parseNcuRawCsv(text)
  return {
    kernels: launches.map((launch) => kernelOf(launch, () => null)),
    notes: notes.map((note) => inEnglish(note)),
    ncuVersion: null,
    createdAt: null,
  }
}

/**
 * A counter for ranking lines. Names ending in `Excess` rank by the counter minus its ideal value.
 */
export type LineCounter =
  | 'samples'
  | 'executed'
  | 'sharedWavefronts'
  | 'sharedWavefrontsExcess'
  | 'globalSectors'
  | 'globalSectorsExcess'

const heats = {
  samples: 'samples',
  executed: 'executed',
  sharedWavefronts: 'sharedWavefronts',
  sharedWavefrontsExcess: 'sharedWavefrontsExcess',
  globalSectors: 'globalL2Sectors',
  globalSectorsExcess: 'globalL2SectorsExcess',
} as const

export interface HotLine {
  file: string
  line: number
  text: string | null
  value: number
  /**
   * Fraction of the kernel's total, 0 to 1. Inlined code counts toward its own line and the calling
   * line.
   */
  share: number
}

/**
 * Returns the source lines of a kernel, highest counter first. Empty if the report has no code.
 *
 * @example
 * ```js
 * import { readFile } from 'node:fs/promises'
 * import { hottestLines, readNcuRep } from 'kernel-ladder'
 *
 * const { kernels } = readNcuRep(await readFile(process.argv[2]))
 * for (const kernel of kernels) {
 *   console.log(`${kernel.name}: ${kernel.ms?.toFixed(3)} ms`)
 *   for (const { file, line, share, text } of hottestLines(kernel).slice(0, 3))
 *     console.log(`  ${(100 * share).toFixed(1)} %  ${file}:${line}  ${text?.trim()}`)
 * }
 * ```
 */
export function hottestLines(kernel: Kernel, by: LineCounter = 'samples'): HotLine[] {
  const deep = deepOf(kernel)
  if (deep === null) return []
  return lineHeat({ schema: 2, rung: 'kernel', kernels: [deep], notes: [] }, heats[by])
}
