/** What the timing model says of a rung. Times are cold: nothing of the buffers is in a cache. */
import type { ParameterValues } from './parameter-table'

/** Changes whenever a prediction can. */
export const predictionModel = 'scoreboard 1'

/** What bounds a launch. */
export const limiters = [
  'dram',
  'l2',
  'l1',
  'lsu',
  'fma',
  'alu',
  'fp16',
  'fp64',
  'xu',
  'tensor',
  'issue',
  'latency',
  'barrier',
  'atomics',
  'launch',
] as const
export type Limiter = (typeof limiters)[number]

/** What a prediction is like, from the prediction alone: it decides the width of its range. */
export const predictionClasses = [
  'compute',
  'memory',
  'latency',
  'tensor',
  'pipeline',
  'atomics',
  'tiny',
] as const
export type PredictionClass = (typeof predictionClasses)[number]

/** Why a warp could not issue; the names are those of ncu's stall reasons. */
export const stallReasons = [
  'barrier',
  'branch_resolving',
  'dispatch_stall',
  'gmma',
  'lg_throttle',
  'long_scoreboard',
  'math_pipe_throttle',
  'membar',
  'mio_throttle',
  'no_instruction',
  'not_selected',
  'short_scoreboard',
  'sleeping',
  'wait',
] as const
export type StallReason = (typeof stallReasons)[number]

export interface PredictedInstruction {
  /** Warp instructions, of the whole launch. */
  readonly executed: number
  /** Of the cycles of all warps, the share that they spent here, issuing or stalled. */
  readonly share: number
  /** Warp cycles by reason per warp instruction issued here. */
  readonly stalls: Partial<Record<StallReason, number>>
}

export interface PredictedLaunch {
  /** Mangled. */
  readonly kernel: string
  /** Including what it takes to launch it. */
  readonly cycles: number
  readonly ms: number
  readonly clockMHz: number
  readonly limiter: Limiter
  /** Utilization of each unit over the time of the launch, 0 to 1. */
  readonly utilization: Partial<Record<Limiter, number>>
  /** Average warps stalled per issued instruction, by reason, as ncu states them. */
  readonly stalls: Partial<Record<StallReason, number>>
  /** Share of the warps an SM can hold, while it has any; 0 to 1. */
  readonly achievedOccupancy: number
  readonly l1HitRate: number | null
  readonly l2HitRate: number | null
  readonly l2ReadBytes: number
  readonly l2WriteBytes: number
  readonly dramReadBytes: number
  readonly dramWriteBytes: number
  /** Whether only some blocks were simulated, and the others taken to be like them. */
  readonly extrapolated: boolean
  /** By index of the instruction in the kernel's code. */
  readonly instructions: readonly PredictedInstruction[]
}

export interface Prediction {
  readonly model: string
  readonly ms: number
  readonly lowMs: number
  readonly highMs: number
  readonly class: PredictionClass
  readonly limiter: Limiter
  readonly launches: readonly PredictedLaunch[]
  /** What widens the range. */
  readonly widened: readonly PredictionWarning[]
}

export const predictionWarnings = [
  'uneven-blocks',
  'data-dependent',
  'near-cache-size',
  'atomics',
  'not-validated',
] as const
export type PredictionWarning = (typeof predictionWarnings)[number]

/** Why nothing can be said of a rung. */
export const refusals = ['spins', 'uneven', 'distributed-shared', 'too-long', 'halted'] as const
export type Refusal = (typeof refusals)[number]

export type PredictionAnswer =
  | { readonly prediction: Prediction }
  | { readonly refused: Refusal; readonly detail: string }

/** Parameters of a GPU as the model takes them. */
export interface PredictionGpu {
  readonly values: ParameterValues
  /** Whether predictions for it were compared with measured times. */
  readonly validated: boolean
}
