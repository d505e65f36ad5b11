/**
 * The timing model's result for a rung. The predicted times assume that the caches contain no
 * buffer data at the start.
 */
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

/** Version of the timing model. The version changes whenever a predicted time may change. */
export const predictionModel = 'scoreboard 4'

export interface PredictedInstruction {
  /** Number of warp instructions in the whole launch. */
  readonly executed: number
  /** Fraction of all warp cycles in which a warp issued this instruction or was stalled at it. */
  readonly share: number
  /** Number of stalled warp cycles per execution of this instruction, by reason. */
  readonly stalls: Partial<Record<StallReason, number>>
}

export interface PredictedLaunch {
  /** Mangled name of the kernel. */
  readonly kernel: string
  /** Number of cycles, including the launch overhead. */
  readonly cycles: number
  readonly ms: number
  readonly clockMHz: number
  readonly limiter: Limiter
  /** Average utilization of each unit during the launch, from 0 to 1. */
  readonly utilization: Partial<Record<Limiter, number>>
  /** Average number of stalled warps per issued instruction, by reason, as defined by ncu. */
  readonly stalls: Partial<Record<StallReason, number>>
  /**
   * Average number of resident warps, as a fraction of an SM's maximum, from 0 to 1. The average
   * covers only times with at least one resident warp.
   */
  readonly achievedOccupancy: number
  readonly l1HitRate: number | null
  readonly l2HitRate: number | null
  readonly l2ReadBytes: number
  readonly l2WriteBytes: number
  readonly dramReadBytes: number
  readonly dramWriteBytes: number
  /**
   * Predicted time in ms after removing a cause of stalls, keyed by cause. Contains only the causes
   * that affect the time. Present only if requested.
   */
  readonly without?: Partial<Record<Removal, number>>
  /**
   * Whether only some of the blocks were simulated. The results are then extrapolated to the other
   * blocks.
   */
  readonly extrapolated: boolean
  /** Predicted values for each instruction in the kernel's code. */
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
  /** Warnings that widen the range of the predicted time. */
  readonly widened: readonly PredictionWarning[]
}

export type PredictionAnswer =
  | { readonly prediction: Prediction }
  | { readonly refused: Refusal; readonly detail: string }

/** Parameters of a GPU, in the form that the model uses. */
export interface PredictionGpu {
  readonly values: ParameterValues
  /** Whether predictions for this GPU have been compared with measured times. */
  readonly validated: boolean
  /**
   * Whether to also predict the time without each cause of stalls. The prediction then takes up to
   * four times as long.
   */
  readonly removes?: boolean
  /** Parts of the model to disable. The default is none. */
  readonly ablate?: readonly Ablation[]
}
