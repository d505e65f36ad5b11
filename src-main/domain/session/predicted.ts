/** What a session stores of predictions: of each rung its time with a range, and what the model was given. */
import { z } from 'zod'
import { Problem } from '../task/problem'
import { limiters, predictionClasses, predictionWarnings, stallReasons } from './prediction-words'

const ms = z.number().positive()
const share = z.number().min(0).max(1)
const bytes = z.number().nonnegative()
const stalls = z.partialRecord(z.enum(stallReasons), z.number().nonnegative())

/** A rung's predicted time; nothing of its buffers is in a cache. */
export const PredictedTime = z.object({
  evidence: z.literal('predicted'),
  ms,
  lowMs: ms,
  highMs: ms,
  /** The unit that bounds the longest launch. */
  limiter: z.enum(limiters),
  /** Name and version of the model. */
  model: z.string(),
  /** What decides the width of the range. */
  class: z.enum(predictionClasses),
  /** What widened the range. */
  widened: z.array(z.enum(predictionWarnings)),
  /** Whether only some blocks were simulated, and the others taken to be like them. */
  extrapolated: z.boolean(),
  /** The problem that it is of, if it is not the session's: a lab is counted at a smaller size. */
  problem: Problem.optional(),
})
export type PredictedTime = z.infer<typeof PredictedTime>

/** What the model was given of the GPU. */
export const PredictionSource = z.object({
  model: z.string(),
  parameters: z.object({
    /** Of the GPU, as in `predicted:<gpu>`. */
    name: z.string(),
    /** Whether predictions with it were compared with measured times. */
    validated: z.boolean(),
    /** SHA-256 of the file, hex. */
    hash: z.string(),
  }),
})
export type PredictionSource = z.infer<typeof PredictionSource>

/** A launch as predicted; of a deep profile. */
export const LaunchPrediction = z.object({
  /** Including what it takes to launch it. */
  cycles: z.number().nonnegative(),
  ms: z.number().nonnegative(),
  clockMHz: z.number().positive(),
  limiter: z.enum(limiters),
  /** Of each unit over the time of the launch. */
  utilization: z.partialRecord(z.enum(limiters), share),
  /** Average warps stalled per issued instruction, by reason. */
  stalls,
  /** Share of the warps that an SM can hold, while it has any. */
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

/** Where the cycles of a launch go; of an instruction in a deep profile. */
export const InstructionPrediction = z.object({
  /** Of the cycles of all warps, the share that they spend here, issuing or stalled. */
  share,
  /** Warp cycles by reason per warp instruction issued here. */
  stalls,
})
export type InstructionPrediction = z.infer<typeof InstructionPrediction>
