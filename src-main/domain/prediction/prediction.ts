/** The timing model's result for a rung. Times are cold: no buffer data is in a cache. */
import type {
  Limiter,
  PredictionClass,
  PredictionWarning,
  Refusal,
  Removal,
  StallReason,
} from '../session/prediction-words'
import type { Ablation } from './ablation'
import type { ParameterValues } from './parameter-table'

export * from '../session/prediction-words'

/** Changes whenever a prediction may change. */
export const predictionModel = 'scoreboard 3'

export interface PredictedInstruction {
  /** Warp instructions of the whole launch. */
  readonly executed: number
  /** Fraction of all warps' cycles spent at this instruction, issuing or stalled. */
  readonly share: number
  /** Warp cycles by reason, per warp instruction issued here. */
  readonly stalls: Partial<Record<StallReason, number>>
}

export interface PredictedLaunch {
  /** The mangled name. */
  readonly kernel: string
  /** Includes the launch overhead. */
  readonly cycles: number
  readonly ms: number
  readonly clockMHz: number
  readonly limiter: Limiter
  /** Utilization of each unit during the launch, 0 to 1. */
  readonly utilization: Partial<Record<Limiter, number>>
  /** Average warps stalled per issued instruction, by reason, as defined by ncu. */
  readonly stalls: Partial<Record<StallReason, number>>
  /** Fraction of the warps that an SM can hold, while it has any; 0 to 1. */
  readonly achievedOccupancy: number
  readonly l1HitRate: number | null
  readonly l2HitRate: number | null
  readonly l2ReadBytes: number
  readonly l2WriteBytes: number
  readonly dramReadBytes: number
  readonly dramWriteBytes: number
  /** The time in ms without a cause, for causes that take a part of the time; absent unless requested. */
  readonly without?: Partial<Record<Removal, number>>
  /** Whether only some blocks were simulated and the others extrapolated. */
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
  /** As in `PredictedLaunch`, of all launches. */
  readonly without?: Partial<Record<Removal, number>>
  /** Warnings that widen the range. */
  readonly widened: readonly PredictionWarning[]
}

export type PredictionAnswer =
  | { readonly prediction: Prediction }
  | { readonly refused: Refusal; readonly detail: string }

/** Parameters of a GPU as the model uses them. */
export interface PredictionGpu {
  readonly values: ParameterValues
  /** Whether predictions for this GPU were compared with measured times. */
  readonly validated: boolean
  /** Whether to predict the times without each cause, too; takes up to four times as long. */
  readonly removes?: boolean
  /** Parts of the model to leave out; none by default. */
  readonly ablate?: readonly Ablation[]
}
