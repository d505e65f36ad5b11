/** What a session stores of predictions: each rung's time with a range, and the model's inputs. */
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

/** A rung's predicted time, with none of its buffers in a cache. */
export const PredictedTime = z.object({
  evidence: z.literal('predicted'),
  ms,
  lowMs: ms,
  highMs: ms,
  /** The unit that bounds the longest launch. */
  limiter: z.enum(limiters),
  /** Name and version of the model. */
  model: z.string(),
  /** Determines the width of the range. */
  class: z.enum(predictionClasses),
  /** Reasons for widening the range. */
  widened: z.array(z.enum(predictionWarnings)),
  /** Whether only some blocks were simulated and the others extrapolated. */
  extrapolated: z.boolean(),
  /** The time in ms if one cause took none: bank conflicts, sectors beside the used ones, latency of memory, barriers. */
  without: z.partialRecord(z.enum(removals), ms).optional(),
  /** The predicted problem, if it is not the session's: a lab is counted at a smaller size. */
  problem: Problem.optional(),
})
export type PredictedTime = z.infer<typeof PredictedTime>

/** The GPU description that the model used. */
export const PredictionSource = z.object({
  model: z.string(),
  parameters: z.object({
    /** The GPU's name, as in `predicted:<gpu>`. */
    name: z.string(),
    /** Whether predictions for this GPU were compared with measured times. */
    validated: z.boolean(),
    /** SHA-256 of the file, hex. */
    hash: z.string(),
  }),
})
export type PredictionSource = z.infer<typeof PredictionSource>

/** A predicted launch, in a deep profile. */
export const LaunchPrediction = z.object({
  /** Including launch overhead. */
  cycles: z.number().nonnegative(),
  ms: z.number().nonnegative(),
  clockMHz: z.number().positive(),
  limiter: z.enum(limiters),
  /** Utilization of each unit over the launch. */
  utilization: z.partialRecord(z.enum(limiters), share),
  /** Average warps stalled per issued instruction, by reason. */
  stalls,
  /** Share of the warps that an SM can hold, averaged while it has any. */
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

/** Where a launch's cycles go, per instruction of a deep profile. */
export const InstructionPrediction = z.object({
  /** Share of all warp cycles spent at this instruction, issuing or stalled. */
  share,
  /** Warp cycles by reason, per warp instruction issued here. */
  stalls,
})
export type InstructionPrediction = z.infer<typeof InstructionPrediction>
