/**
 * The deep profile of one rung: counters per instruction and source line, and ncu's
 * recommendations. Sessions store the profile in `deep/<rung>.json`.
 * docs/reference/session-format.md describes the sources of this data. For a rung that was built
 * but not run, instructions are decoded from the machine code and have no counters. Null means not
 * collected; 0 is a measured zero.
 */
import { z } from 'zod'
import { Identifier } from '../ladder/rung'
import { InstructionPrediction, LaunchPrediction } from './predicted'
import { message, Statement, type AnyMessage } from '../messages/message'

const count = z.number().nonnegative().nullable()

/** Counters for one instruction, or for one source line as the sum over its instructions. */
export const Work = z.object({
  /** Number of times warps executed the instruction. */
  executed: count,
  /** Number of times threads executed the instruction, including predicated-off threads. */
  threadExecuted: count,
  /** Number of samples in which a warp was at this instruction, in any state. */
  samples: count,
  /** Number of samples in cycles in which the scheduler issued no instruction. */
  notIssuedSamples: count,
  /**
   * Number of samples per stall reason, by ncu's names (`long_sb`, `mio`, `selected`…). Reasons
   * without samples are omitted.
   */
  stalls: z.record(z.string(), z.number().positive()).nullable(),
  /** Shared-memory wavefronts: actual, ideal, and the difference. */
  sharedWavefronts: count,
  sharedWavefrontsIdeal: count,
  sharedWavefrontsExcess: count,
  /** L1 tag lookups for global memory. ncu reports no ideal count. */
  globalL1Requests: count,
  /**
   * 32-byte sectors requested from L2 for global memory, by ncu's theoretical count: actual, ideal,
   * and the difference.
   */
  globalL2Sectors: count,
  globalL2SectorsIdeal: count,
  globalL2SectorsExcess: count,
})
export type Work = z.infer<typeof Work>

/** Counters for code that was not profiled. All counters are null. */
export const notCounted: Work = {
  executed: null,
  threadExecuted: null,
  samples: null,
  notIssuedSamples: null,
  stalls: null,
  sharedWavefronts: null,
  sharedWavefrontsIdeal: null,
  sharedWavefrontsExcess: null,
  globalL1Requests: null,
  globalL2Sectors: null,
  globalL2SectorsIdeal: null,
  globalL2SectorsExcess: null,
}

const Place = z.object({ file: z.string(), line: z.number().int().positive() })
export type Place = z.infer<typeof Place>

export const Instruction = Work.extend({
  /** Index of the instruction in the kernel, from 0. */
  index: z.number().int().nonnegative(),
  /** Offset in bytes from the kernel's first instruction, independent of the load address. */
  offset: z.number().int().nonnegative(),
  /** SASS in ncu's format, with jump targets as offsets. */
  text: z.string(),
  /** Opcode with modifiers, such as `LDS.128` or `FFMA`. */
  opcode: z.string(),
  /**
   * Path under the session's `sources/`, or a bare file name for other sources. Null if there is no
   * line information.
   */
  file: z.string().nullable(),
  line: z.number().int().positive().nullable(),
  /**
   * Additional lines that ncu lists for an inlined instruction. Each of these lines includes the
   * instruction's work.
   */
  inlinedFrom: z.array(Place).optional(),
  /** The timing model's prediction; only for the target `predicted`. */
  predicted: InstructionPrediction.optional(),
})
export type Instruction = z.infer<typeof Instruction>

export const SourceLine = Work.extend({
  file: z.string(),
  line: z.number().int().positive(),
  /** Source text; null if ncu did not have the source. */
  text: z.string().nullable(),
})
export type SourceLine = z.infer<typeof SourceLine>

/** One recommendation from ncu. */
export const Rule = z.object({
  /**
   * ncu's names for the section and the rule, such as `MemoryWorkloadAnalysis_Tables` and
   * `SharedMemoryConflicts`.
   */
  section: z.string(),
  name: z.string(),
  kind: z.enum(['optimization', 'warning', 'info', 'error']),
  text: z.string(),
  /** ncu's estimate of the maximum speedup in percent; null if ncu gives no estimate. */
  estimatedSpeedup: z.number().nullable(),
  /** Whether the recommendation applies to the whole kernel or to one limiting unit. */
  speedupType: z.enum(['global', 'local']).nullable(),
})
export type Rule = z.infer<typeof Rule>

/**
 * Which samples have stall reasons: all samples, or only samples in cycles without an issued
 * instruction (ncu 2025.4 and later).
 */
const StallSamples = z.enum(['all', 'notIssued'])
export type StallSamples = z.infer<typeof StallSamples>

export const DeepKernel = z.object({
  name: z.string(),
  instructions: z.array(Instruction),
  lines: z.array(SourceLine),
  /** Executed warp-level instructions by opcode; null if not counted. */
  opcodes: z.record(z.string(), z.number().nonnegative()).nullable(),
  rules: z.array(Rule),
  /**
   * The samples with stall reasons. Absent if there are no samples, and in older sessions, in which
   * all samples have stall reasons.
   */
  stallSamples: StallSamples.optional(),
  /** The timing model's prediction; only for the target `predicted`. */
  predicted: LaunchPrediction.optional(),
})
export type DeepKernel = z.infer<typeof DeepKernel>

export const deepSchemaVersion = 2

export const DeepProfile = z.object({
  schema: z.literal(deepSchemaVersion),
  rung: Identifier,
  /** One entry per launch, in launch order. */
  kernels: z.array(DeepKernel),
  /** Parts that are missing from the profile, and the reasons. */
  notes: z.array(Statement),
})
export type DeepProfile = z.infer<typeof DeepProfile>

/** Deep profiles by rung. Implementations may load the profiles on demand. */
export type DeepProfiles = Pick<ReadonlyMap<string, DeepProfile>, 'get' | 'keys' | 'values'>

/**
 * Counters that are exact counts per instruction instead of samples. The emulator also provides
 * these counters.
 */
export const counted = [
  'executed',
  'threadExecuted',
  'sharedWavefronts',
  'sharedWavefrontsIdeal',
  'sharedWavefrontsExcess',
  'globalL1Requests',
  'globalL2Sectors',
  'globalL2SectorsIdeal',
  'globalL2SectorsExcess',
] as const satisfies readonly (keyof Work)[]

/** Counters that a heat map can show. */
export const heatKinds = [
  'executed',
  'samples',
  'notIssuedSamples',
  'sharedWavefronts',
  'sharedWavefrontsExcess',
  'globalL2Sectors',
  'globalL2SectorsExcess',
] as const satisfies readonly (keyof Work)[]
export type HeatKind = (typeof heatKinds)[number]

export interface LineHeat extends Pick<SourceLine, 'file' | 'line' | 'text'> {
  value: number
  /** Fraction of the counter's total over the whole rung, from 0 to 1. */
  share: number
}

/**
 * Returns source lines by their share of a counter, hottest first. Lines with a share of zero are
 * omitted. Inlined code counts toward its own line and the calling line, so shares can add up to
 * more than 1.
 */
export function lineHeat(profile: DeepProfile, kind: HeatKind): LineHeat[] {
  const lines = new Map<string, LineHeat>()
  for (const { file, line, text, [kind]: value } of profile.kernels.flatMap(
    (kernel) => kernel.lines,
  )) {
    if (!value) continue
    const known = lines.get(`${file}:${line}`)
    if (known) known.value += value
    else lines.set(`${file}:${line}`, { file, line, text, value, share: 0 })
  }
  // Compute the counter's total from instructions, because lines count inlined code twice.
  const counted = profile.kernels
    .flatMap((kernel) => kernel.instructions)
    .reduce((sum, { [kind]: value }) => sum + (value ?? 0), 0)
  const total = counted || [...lines.values()].reduce((sum, { value }) => sum + value, 0)
  return [...lines.values()]
    .map((heat) => ({ ...heat, share: heat.value / total }))
    .sort((a, b) => b.value - a.value)
}

/** Returns the instructions compiled from a source line, each with its kernel. */
export const sassOfLine = (
  profile: DeepProfile,
  file: string,
  line: number,
): { kernel: DeepKernel; instruction: Instruction }[] =>
  profile.kernels.flatMap((kernel) =>
    kernel.instructions
      .filter((instruction) =>
        [instruction, ...(instruction.inlinedFrom ?? [])].some(
          (place) => place.file === file && place.line === line,
        ),
      )
      .map((instruction) => ({ kernel, instruction })),
  )

/** Returns the opcode without modifiers: `LDS.128` becomes `LDS`. */
export const opcodeFamily = (opcode: string): string => opcode.split('.')[0]!

/**
 * Returns executed instructions by opcode, summed over a rung's kernels. Returns null if any kernel
 * has no counts.
 */
export function opcodeHistogram(profile: DeepProfile): Record<string, number> | null {
  const sum: Record<string, number> = {}
  for (const { opcodes } of profile.kernels) {
    if (opcodes === null) return null
    for (const [opcode, executed] of Object.entries(opcodes))
      sum[opcode] = (sum[opcode] ?? 0) + executed
  }
  return profile.kernels.length === 0 ? null : sum
}

/**
 * Returns samples by stall reason, summed over a rung's kernels. Returns null if any kernel has no
 * samples.
 */
export function stallHistogram(
  profile: Pick<DeepProfile, 'kernels'>,
): Record<string, number> | null {
  const sum: Record<string, number> = {}
  for (const { stalls } of profile.kernels.flatMap((kernel) => kernel.instructions)) {
    if (stalls === null) return null
    for (const [reason, samples] of Object.entries(stalls))
      sum[reason] = (sum[reason] ?? 0) + samples
  }
  return Object.keys(sum).length === 0 ? null : sum
}

export const HistogramDelta = z.object({
  /** Opcode or stall reason. */
  key: z.string(),
  a: z.number(),
  b: z.number(),
  /** Difference b − a. */
  delta: z.number(),
  /** `a` and `b` as fractions of all instructions or samples of their rung, from 0 to 1. */
  shareA: z.number(),
  shareB: z.number(),
})
export type HistogramDelta = z.infer<typeof HistogramDelta>

const largestMove = ({ delta }: HistogramDelta): number => Math.abs(delta)

/** Merges two histograms by key. The result is sorted by `order`, largest first. */
export function histogramDeltas(
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
  order: (delta: HistogramDelta) => number = largestMove,
): HistogramDelta[] {
  const total = (side: ReadonlyMap<string, number>): number =>
    [...side.values()].reduce((sum, value) => sum + value, 0) || 1
  const [totalA, totalB] = [total(a), total(b)]
  return [...new Set([...a.keys(), ...b.keys()])]
    .map((key) => {
      const [left, right] = [a.get(key) ?? 0, b.get(key) ?? 0]
      return {
        key,
        a: left,
        b: right,
        delta: right - left,
        shareA: left / totalA,
        shareB: right / totalB,
      }
    })
    .sort((x, y) => order(y) - order(x) || (x.key < y.key ? -1 : 1))
}

const collectedDeltas = (
  a: Record<string, number> | null,
  b: Record<string, number> | null,
  order?: (delta: HistogramDelta) => number,
): HistogramDelta[] | null =>
  a && b && histogramDeltas(new Map(Object.entries(a)), new Map(Object.entries(b)), order)

export const opcodeDelta = (a: DeepProfile, b: DeepProfile): HistogramDelta[] | null =>
  collectedDeltas(opcodeHistogram(a), opcodeHistogram(b))

const stallSamplesOf = ({ kernels }: DeepProfile): StallSamples | null =>
  stallHistogram({ kernels }) === null
    ? null
    : kernels.some(({ stallSamples }) => stallSamples === 'notIssued')
      ? 'notIssued'
      : 'all'

/**
 * Returns why the stall reasons of two rungs cannot be compared. Returns null if the stall reasons
 * can be compared or if either rung has none.
 */
export function stallObstacle(
  a: DeepProfile | null | undefined,
  b: DeepProfile | null | undefined,
): AnyMessage | null {
  const [left, right] = [a && stallSamplesOf(a), b && stallSamplesOf(b)]
  return left && right && left !== right
    ? message('deep.otherSamples', {
        a: message(`stallSamples.${left}`),
        b: message(`stallSamples.${right}`),
      })
    : null
}

/**
 * Returns stall samples by reason, with the largest change in share first. Samples are taken at a
 * fixed interval, so a longer run has more samples. Compare the shares instead of the numbers of
 * samples.
 */
export const stallDelta = (a: DeepProfile, b: DeepProfile): HistogramDelta[] | null =>
  stallObstacle(a, b)
    ? null
    : collectedDeltas(stallHistogram(a), stallHistogram(b), ({ shareA, shareB }) =>
        Math.abs(shareB - shareA),
      )

/**
 * Returns whether two rungs ran the same machine code, or null if either rung's machine code is
 * unknown.
 */
export function identicalSass(a: DeepProfile, b: DeepProfile): boolean | null {
  const texts = ({ kernels }: DeepProfile): string[][] =>
    kernels.map(({ instructions }) => instructions.map(({ text }) => text))
  const [left, right] = [texts(a), texts(b)]
  if (!left.some((kernel) => kernel.length > 0) || !right.some((kernel) => kernel.length > 0))
    return null
  return JSON.stringify(left) === JSON.stringify(right)
}
