/** What the timing model says of a rung. Times are cold: nothing of the buffers is in a cache. */
import type {
  Limiter,
  PredictionClass,
  PredictionWarning,
  Refusal,
  StallReason,
} from '../session/prediction-words'
import type { Ablation } from './ablation'
import type { ParameterValues } from './parameter-table'

export * from '../session/prediction-words'

/** Changes whenever a prediction can. */
export const predictionModel = 'scoreboard 2'

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

export type PredictionAnswer =
  | { readonly prediction: Prediction }
  | { readonly refused: Refusal; readonly detail: string }

/** Parameters of a GPU as the model takes them. */
export interface PredictionGpu {
  readonly values: ParameterValues
  /** Whether predictions for it were compared with measured times. */
  readonly validated: boolean
  /** Parts of the model to leave out; none by default. */
  readonly ablate?: readonly Ablation[]
}
