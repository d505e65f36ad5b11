/**
 * What profiling will cost, before it is paid. ncu runs a kernel again for each group of counters that
 * fit together; how many passes a level takes is known from recorded runs, so what is said for another
 * GPU is an estimate twice over. Pure.
 */
import { z } from 'zod'
import { message, Statement } from '../messages/message'
import { ProfileLevel } from '../metrics/metric-definition'
import { Identifier } from '../ladder/rung'

const CollectingLevel = ProfileLevel.exclude(['none'])
type CollectingLevel = z.infer<typeof CollectingLevel>

/** Where the figures below were taken: an H200 with ncu 2025.3.1, 2026-11-21. */
const knownComputeCapability = '9.0'
const knownWith = message('tools.knownWith', {
  gpu: 'H200',
  computeCapability: knownComputeCapability,
  version: '2025.3.1',
})

interface LevelCost {
  /** Replay passes of a kernel. */
  passes: number
  /** Time of a pass over the launch's own time, on average over the passes of the level. */
  slowdown: number
  /** Around each pass: caches emptied, memory put back, counters read; seconds. */
  secondsPerPass: number
}

/**
 * Fitted on an H200: card to gemm-fp32 at 4096, the whole ladder within a seventh; standard to gemm-tensor and
 * gemm-3xtf32 at 4096, within a tenth (test/services/standard-recordings). Deep: some of its passes count
 * inside the kernel, about a nanosecond an instruction, which the unprofiled time does not tell; a rung that
 * is all instructions and no waiting took 2.4 times the estimate, the whole ladder gemm-fp32 1.2 times.
 */
const costs: Record<CollectingLevel, LevelCost> = {
  card: { passes: 1, slowdown: 1, secondsPerPass: 0.013 },
  standard: { passes: 7, slowdown: 1, secondsPerPass: 0.03 },
  deep: { passes: 40, slowdown: 1.5, secondsPerPass: 0.1 },
}

/** Starting ncu, the runner and CUDA, making the inputs, and ncu's own preparation; seconds. */
const startSeconds = 2

export const ProfilePlan = z.object({
  level: CollectingLevel,
  /** Of each kernel. */
  passes: z.number().int(),
  /** Which GPU and ncu the pass count is known of, in words. */
  knownWith: Statement,
  /** That is not the kind of GPU at hand. */
  otherGpu: z.boolean(),
  rungs: z.array(
    z.object({
      id: Identifier,
      /** Null where the unprofiled time is not known. */
      seconds: z.number().nullable(),
      /** It is left out, on request or for its length. */
      skipped: z.boolean(),
    }),
  ),
  /** Of all that are not left out, the start included; what is not known counts as nothing. */
  seconds: z.number(),
})
export type ProfilePlan = z.infer<typeof ProfilePlan>

export interface PlanRequest {
  level: CollectingLevel
  /** `9.0`; null while the GPU is not known. */
  computeCapability: string | null
  /** Unprofiled times; a rung of several kernels counts as one launch of their sum. */
  rungs: readonly { id: string; medianMs: number | null }[]
  /** Rungs to leave out. */
  skip?: readonly string[]
  /** Seconds above which a rung is left out. */
  limitSeconds?: number
}

/** What a rung will take under ncu, in seconds: its unmarked launch, then each pass. */
export function profileSeconds(level: CollectingLevel, medianMs: number): number {
  const { passes, slowdown, secondsPerPass } = costs[level]
  const launch = medianMs / 1000
  return launch + passes * (launch * slowdown + secondsPerPass)
}

export function planProfile(request: PlanRequest): ProfilePlan {
  const { level, computeCapability, skip = [], limitSeconds = Infinity } = request
  const rungs = request.rungs.map(({ id, medianMs }) => {
    const seconds = medianMs === null ? null : profileSeconds(level, medianMs)
    return { id, seconds, skipped: skip.includes(id) || (seconds ?? 0) > limitSeconds }
  })
  return {
    level,
    passes: costs[level].passes,
    knownWith,
    otherGpu: computeCapability !== knownComputeCapability,
    rungs,
    seconds: rungs
      .filter(({ skipped }) => !skipped)
      .reduce((sum, { seconds }) => sum + (seconds ?? 0), startSeconds),
  }
}

/** What it did cost. */
export const ProfileCost = z.object({
  level: CollectingLevel,
  /** Wall time of ncu, in seconds. */
  seconds: z.number(),
  rungs: z.array(
    z.object({
      id: Identifier,
      /** The most of any kernel. */
      passes: z.number().int(),
      /** Null where the runner did not say. */
      seconds: z.number().nullable(),
    }),
  ),
})
export type ProfileCost = z.infer<typeof ProfileCost>
