/** Prediction data in a session: each rung's time and range, and the model's inputs. */
import { z } from 'zod'
import { Problem } from '../task/problem'
import {
  limiters,
  predictionClasses,
  predictionWarnings,
  removals,
  stallReasons,
} from './prediction-words'

const ms = z.number().positive()
const share = z.number().min(0).max(1)
const bytes = z.number().nonnegative()
const stalls = z.partialRecord(z.enum(stallReasons), z.number().nonnegative())

/** Predicted time of a rung with cold caches. */
export const PredictedTime = z.object({
  evidence: z.literal('predicted'),
  ms,
  lowMs: ms,
  highMs: ms,
  /** The unit that limits the longest launch. */
  limiter: z.enum(limiters),
  /** Model name and version. */
  model: z.string(),
  /** Prediction class, which determines the width of the range. */
  class: z.enum(predictionClasses),
  /** Reasons why the range is wider than usual. */
  widened: z.array(z.enum(predictionWarnings)),
  /**
   * Whether only some blocks were simulated, and the results were extrapolated to the other blocks.
   */
  extrapolated: z.boolean(),
  /**
   * Simulated time in ms with one cause removed: bank conflicts, unused sectors, memory latency or
   * barriers.
   */
  without: z.partialRecord(z.enum(removals), ms).optional(),
  /**
   * The predicted problem, if it differs from the session's problem. In labs, the counters are for
   * a smaller problem than the predicted one.
   */
  problem: Problem.optional(),
})
export type PredictedTime = z.infer<typeof PredictedTime>

/** The GPU description that the model used. */
export const PredictionSource = z.object({
  model: z.string(),
  parameters: z.object({
    /** Name of the GPU, as in `predicted:<gpu>`. */
    name: z.string(),
    /** Whether predictions for this GPU were compared with measured times. */
    validated: z.boolean(),
    /** SHA-256 of the GPU description file in hex. */
    hash: z.string(),
  }),
})
export type PredictionSource = z.infer<typeof PredictionSource>

/** Prediction for one launch in a deep profile. */
export const LaunchPrediction = z.object({
  /** Duration of the launch in cycles, including launch overhead. */
  cycles: z.number().nonnegative(),
  ms: z.number().nonnegative(),
  clockMHz: z.number().positive(),
  limiter: z.enum(limiters),
  /** Utilization of each unit over the whole launch. */
  utilization: z.partialRecord(z.enum(limiters), share),
  /** Average number of warps stalled per issued instruction, by reason. */
  stalls,
  /** Average number of resident warps on an active SM, as a fraction of the SM's maximum. */
  achievedOccupancy: share,
  l1HitRate: share.nullable(),
  l2HitRate: share.nullable(),
  l2ReadBytes: bytes,
  l2WriteBytes: bytes,
  dramReadBytes: bytes,
  dramWriteBytes: bytes,
  extrapolated: z.boolean(),
})
export type LaunchPrediction = z.infer<typeof LaunchPrediction>

/** Predicted cycles at one instruction of a deep profile. */
export const InstructionPrediction = z.object({
  /** Fraction of all warp cycles spent at this instruction, issuing or stalled. */
  share,
  /** Warp cycles by stall reason, per issue of this instruction. */
  stalls,
})
export type InstructionPrediction = z.infer<typeof InstructionPrediction>
