/** The timing model's result for a rung. The predicted times assume that no buffer data is cached. */
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

/** Version of the model. It changes whenever a prediction may change. */
export const predictionModel = 'scoreboard 3'

export interface PredictedInstruction {
  /** Number of warp instructions in the whole launch. */
  readonly executed: number
  /** Fraction of all warps' cycles spent on this instruction, either issuing or stalled. */
  readonly share: number
  /** Stalled warp cycles by reason, per execution of this instruction. */
  readonly stalls: Partial<Record<StallReason, number>>
}

export interface PredictedLaunch {
  /** Mangled name of the kernel. */
  readonly kernel: string
  /** Cycles including the launch overhead. */
  readonly cycles: number
  readonly ms: number
  readonly clockMHz: number
  readonly limiter: Limiter
  /** Utilization of each unit during the launch, from 0 to 1. */
  readonly utilization: Partial<Record<Limiter, number>>
  /** Average number of stalled warps per issued instruction, by reason. The definition is ncu's. */
  readonly stalls: Partial<Record<StallReason, number>>
  /**
   * Resident warps as a fraction of an SM's maximum, from 0 to 1. Only times with at least one
   * resident warp count.
   */
  readonly achievedOccupancy: number
  readonly l1HitRate: number | null
  readonly l2HitRate: number | null
  readonly l2ReadBytes: number
  readonly l2WriteBytes: number
  readonly dramReadBytes: number
  readonly dramWriteBytes: number
  /** Time in ms without a cause, for causes that affect the time. Absent unless requested. */
  readonly without?: Partial<Record<Removal, number>>
  /** Whether only some blocks were simulated and the other blocks extrapolated. */
  readonly extrapolated: boolean
  /** Predicted instructions by their index in the kernel's code. */
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
  /** Sum of `PredictedLaunch.without` over all launches. */
  readonly without?: Partial<Record<Removal, number>>
  /** Warnings that widen the range. */
  readonly widened: readonly PredictionWarning[]
}

export type PredictionAnswer =
  | { readonly prediction: Prediction }
  | { readonly refused: Refusal; readonly detail: string }

/** Parameters of a GPU in the form that the model uses. */
export interface PredictionGpu {
  readonly values: ParameterValues
  /** Whether predictions for this GPU were compared with measured times. */
  readonly validated: boolean
  /** Whether to predict the times without each cause too. This takes up to four times as long. */
  readonly removes?: boolean
  /** Parts of the model to leave out. The default is none. */
  readonly ablate?: readonly Ablation[]
}
