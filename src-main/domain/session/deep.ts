/**
 * The deep profile of one rung: counters per instruction and source line, and ncu's advice. `deep/<rung>.json` of a session has this shape;
 * docs/reference/session-format.md describes its origin. For a rung that was built but not run, the instructions come from the machine code and have
 * no counters. null means not collected; 0 means counted and zero.
 */
import { z } from 'zod'
import { Identifier } from '../ladder/rung'
import { InstructionPrediction, LaunchPrediction } from './predicted'
import { message, Statement, type AnyMessage } from '../messages/message'

const count = z.number().nonnegative().nullable()

/** Counters of one instruction, or of one source line as the sum over its instructions. */
export const Work = z.object({
  /** Times a warp executed it. */
  executed: count,
  /** Times a thread executed it, including predicated-off threads. */
  threadExecuted: count,
  /** Warp samples that found a warp here, whatever it was doing. */
  samples: count,
  /** Samples taken in cycles in which the scheduler issued nothing. */
  notIssuedSamples: count,
  /** Samples by ncu's reason (`long_sb`, `mio`, `selected`…); reasons without samples are omitted. */
  stalls: z.record(z.string(), z.number().positive()).nullable(),
  /** Passes through shared memory: actual, ideal, and the difference. */
  sharedWavefronts: count,
  sharedWavefrontsIdeal: count,
  sharedWavefrontsExcess: count,
  /** Tag lookups in L1 for global memory; ncu gives no ideal for them. */
  globalL1Requests: count,
  /** Theoretical 32-byte sectors requested from L2 for global memory: actual, ideal, and the difference. */
  globalL2Sectors: count,
  globalL2SectorsIdeal: count,
  globalL2SectorsExcess: count,
})
export type Work = z.infer<typeof Work>

/** The counters of code that was not profiled. */
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
  /** Its index in the kernel, from 0. */
  index: z.number().int().nonnegative(),
  /** Bytes from the kernel's first instruction, independent of the load address. */
  offset: z.number().int().nonnegative(),
  /** SASS as ncu prints it, jump targets as offsets. */
  text: z.string(),
  /** Including modifiers: `LDS.128`, `FFMA`. */
  opcode: z.string(),
  /** Path under the session's `sources/`, or a bare file name of another source; null without line information. */
  file: z.string().nullable(),
  line: z.number().int().positive().nullable(),
  /** Additional lines that ncu lists for it after inlining. Its work counts for each of them. */
  inlinedFrom: z.array(Place).optional(),
  /** Set on the target `predicted`. */
  predicted: InstructionPrediction.optional(),
})
export type Instruction = z.infer<typeof Instruction>

export const SourceLine = Work.extend({
  file: z.string(),
  line: z.number().int().positive(),
  /** Null if ncu had no source. */
  text: z.string().nullable(),
})
export type SourceLine = z.infer<typeof SourceLine>

/** A piece of ncu's own advice. */
export const Rule = z.object({
  /** ncu's names of the section and rule, such as `MemoryWorkloadAnalysis_Tables` and `SharedMemoryConflicts`. */
  section: z.string(),
  name: z.string(),
  kind: z.enum(['optimization', 'warning', 'info', 'error']),
  text: z.string(),
  /** ncu's estimate of the maximum speedup, in percent; null if it gives none. */
  estimatedSpeedup: z.number().nullable(),
  /** Whether it applies to the whole kernel or to one limiting unit. */
  speedupType: z.enum(['global', 'local']).nullable(),
})
export type Rule = z.infer<typeof Rule>

/** Which samples have stall reasons: all of them, or only those in cycles without an issue, as in ncu 2025.4 and later. */
const StallSamples = z.enum(['all', 'notIssued'])
export type StallSamples = z.infer<typeof StallSamples>

export const DeepKernel = z.object({
  name: z.string(),
  instructions: z.array(Instruction),
  lines: z.array(SourceLine),
  /** Warp-level instructions executed, by opcode; null if they were not counted. */
  opcodes: z.record(z.string(), z.number().nonnegative()).nullable(),
  rules: z.array(Rule),
  /** Absent without samples. Also absent in older sessions, whose samples all have stall reasons. */
  stallSamples: StallSamples.optional(),
  /** Set on the target `predicted`. */
  predicted: LaunchPrediction.optional(),
})
export type DeepKernel = z.infer<typeof DeepKernel>

export const deepSchemaVersion = 2

export const DeepProfile = z.object({
  schema: z.literal(deepSchemaVersion),
  rung: Identifier,
  /** One per launch, in launch order. */
  kernels: z.array(DeepKernel),
  /** What is missing and why. */
  notes: z.array(Statement),
})
export type DeepProfile = z.infer<typeof DeepProfile>

/** Profiles by rung, which may be created on demand. */
export type DeepProfiles = Pick<ReadonlyMap<string, DeepProfile>, 'get' | 'keys' | 'values'>

/** The counters that are counted per instruction rather than sampled, so the emulator provides them too. */
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

/** The counters that a heat map can show. */
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
  /** Share of the rung's total, from 0 to 1. */
  share: number
}

/**
 * Returns source lines by their share of a counter, hottest first, without lines of share zero. Inlined code counts for both its own line
 * and the call site, so shares can add up to more than 1.
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
  // Not summed over lines, because inlined code counts for two of them.
  const counted = profile.kernels
    .flatMap((kernel) => kernel.instructions)
    .reduce((sum, { [kind]: value }) => sum + (value ?? 0), 0)
  const total = counted || [...lines.values()].reduce((sum, { value }) => sum + value, 0)
  return [...lines.values()]
    .map((heat) => ({ ...heat, share: heat.value / total }))
    .sort((a, b) => b.value - a.value)
}

/** Returns the instructions that a source line compiled to, each with its kernel. */
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

/** `LDS.128` → `LDS`. */
export const opcodeFamily = (opcode: string): string => opcode.split('.')[0]!

/** Returns a rung's executed instructions by opcode, summed over its kernels; null if one was not counted. */
export function opcodeHistogram(profile: DeepProfile): Record<string, number> | null {
  const sum: Record<string, number> = {}
  for (const { opcodes } of profile.kernels) {
    if (opcodes === null) return null
    for (const [opcode, executed] of Object.entries(opcodes))
      sum[opcode] = (sum[opcode] ?? 0) + executed
  }
  return profile.kernels.length === 0 ? null : sum
}

/** Returns a rung's samples by stall reason, summed over its kernels; null if one was not sampled. */
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
  /** The opcode or the stall reason. */
  key: z.string(),
  a: z.number(),
  b: z.number(),
  /** b − a. */
  delta: z.number(),
  /** Each as a share of its rung's total, from 0 to 1. */
  shareA: z.number(),
  shareB: z.number(),
})
export type HistogramDelta = z.infer<typeof HistogramDelta>

const largestMove = ({ delta }: HistogramDelta): number => Math.abs(delta)

/** Merges two histograms by key, sorted by `order`, largest first. */
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

/** Returns why the stall reasons of two rungs cannot be compared; null if they can be, or if one has none. */
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
 * Returns stall samples, largest change of share first. Samples are taken at a fixed interval, so their number is proportional to the time;
 * compare the shares.
 */
export const stallDelta = (a: DeepProfile, b: DeepProfile): HistogramDelta[] | null =>
  stallObstacle(a, b)
    ? null
    : collectedDeltas(stallHistogram(a), stallHistogram(b), ({ shareA, shareB }) =>
        Math.abs(shareB - shareA),
      )

/** Whether two rungs ran the same machine code; null if either is unknown. */
export function identicalSass(a: DeepProfile, b: DeepProfile): boolean | null {
  const texts = ({ kernels }: DeepProfile): string[][] =>
    kernels.map(({ instructions }) => instructions.map(({ text }) => text))
  const [left, right] = [texts(a), texts(b)]
  if (!left.some((kernel) => kernel.length > 0) || !right.some((kernel) => kernel.length > 0))
    return null
  return JSON.stringify(left) === JSON.stringify(right)
}
