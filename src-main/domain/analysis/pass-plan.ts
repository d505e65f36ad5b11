/**
 * Estimates the cost of profiling. ncu replays a kernel for each group of counters that it can
 * collect together. The number of passes per level is known from recorded runs on one GPU. For
 * other GPUs, the pass count and the cost are estimates.
 */
import { z } from 'zod'
import { message, Statement } from '../messages/message'
import { ProfileLevel } from '../metrics/metric-definition'
import { Identifier } from '../ladder/rung'

const CollectingLevel = ProfileLevel.exclude(['none'])
type CollectingLevel = z.infer<typeof CollectingLevel>

/**
 * Compute capability of the GPU on which the costs below were measured. The GPU was an H200,
 * profiled with ncu 2025.3.1 on 2026-11-21.
 */
const knownComputeCapability = '9.0'
const knownWith = message('tools.knownWith', {
  gpu: 'H200',
  computeCapability: knownComputeCapability,
  version: '2025.3.1',
})

interface LevelCost {
  /** Number of replay passes per kernel. */
  passes: number
  /** Time of a pass divided by the time of the launch, averaged over the level's passes. */
  slowdown: number
  /**
   * Overhead in seconds per kernel pass, for flushing caches, restoring memory, and reading
   * counters.
   */
  secondsPerPass: number
}

/**
 * Cost of each profiling level, fitted to H200 measurements.
 *
 * - card: gemm-fp32 at 4096, accurate to within 1/7 over the whole ladder.
 * - standard: gemm-tensor and gemm-3xtf32 at 4096, accurate to within 1/10 (recordings.test.ts).
 * - deep: some passes instrument the kernel and take about a nanosecond per instruction. The
 * unprofiled time does not include the cost of instrumentation. A rung with no stalls took 2.4
 * times the estimate.
 *   The whole gemm-fp32 ladder took 1.2 times the estimate.
 */
const costs: Record<CollectingLevel, LevelCost> = {
  card: { passes: 1, slowdown: 1, secondsPerPass: 0.013 },
  standard: { passes: 7, slowdown: 1, secondsPerPass: 0.03 },
  deep: { passes: 40, slowdown: 1.5, secondsPerPass: 0.1 },
}

/** Seconds to start ncu, the runner and CUDA, to generate the inputs, and to prepare profiling. */
const startSeconds = 2

/**
 * Assumed seconds for starting Python and importing a framework, if the run did not measure this
 * time. Starting took 2.3 to 4.9 s on the machine with the H200.
 */
const importSeconds = 4

export const ProfilePlan = z.object({
  level: CollectingLevel,
  /** Number of passes per kernel. */
  passes: z.number().int(),
  /** The GPU and ncu version for which the pass count is known. */
  knownWith: Statement,
  /** Whether the current GPU differs from the GPU for which the pass count is known. */
  otherGpu: z.boolean(),
  rungs: z.array(
    z.object({
      id: Identifier,
      /** Estimated seconds, or null if the unprofiled time is unknown. */
      seconds: z.number().nullable(),
      /**
       * Whether profiling skips the rung, either on request or because profiling takes too long.
       */
      skipped: z.boolean(),
    }),
  ),
  /**
   * Total seconds for all rungs that are not skipped, including startup. Rungs with an unknown time
   * add nothing to the total.
   */
  seconds: z.number(),
})
export type ProfilePlan = z.infer<typeof ProfilePlan>

/** The data that determines a rung's time under ncu. */
interface PlannedRung {
  id: string
  /** Unprofiled time of a launch. */
  medianMs: number | null
  /** Number of kernels per launch, 1 by default. */
  kernels?: number | undefined
  /**
   * Set if the rung compiles its kernels when it is loaded. The rung compiles them again under ncu.
   */
  prepared?: Preparation | undefined
}

interface Preparation {
  /** Seconds for compiling and for the first launches. */
  seconds: number
  /**
   * Seconds spent before compilation, such as starting Python and importing packages. Absent
   * if not measured.
   */
  loadSeconds?: number | undefined
}

interface PlanRequest {
  level: CollectingLevel
  /** Compute capability such as `9.0`, or null while the GPU is unknown. */
  computeCapability: string | null
  rungs: readonly PlannedRung[]
  /** Ids of rungs to skip. */
  skip?: readonly string[]
  /** Maximum seconds per rung. Rungs that take longer than the maximum are skipped. */
  limitSeconds?: number
}

/**
 * Returns a rung's time under ncu in seconds: its preparation, its unprofiled launch, and all
 * passes.
 */
export function profileSeconds(
  level: CollectingLevel,
  { medianMs, kernels = 1, prepared }: Omit<PlannedRung, 'id'> & { medianMs: number },
): number {
  const { passes, slowdown, secondsPerPass } = costs[level]
  const launch = medianMs / 1000
  const preparation = prepared ? prepared.seconds + (prepared.loadSeconds ?? 0) : 0
  return preparation + launch + passes * (launch * slowdown + kernels * secondsPerPass)
}

/**
 * Adds the import time to the first rung that imports packages, because a process imports packages
 * only once.
 */
function withImports(rungs: readonly PlannedRung[]): readonly PlannedRung[] {
  const first = rungs.find(({ prepared }) => prepared)
  if (!first?.prepared || first.prepared.loadSeconds !== undefined) return rungs
  const prepared = { ...first.prepared, loadSeconds: importSeconds }
  return rungs.map((rung) => (rung === first ? { ...rung, prepared } : rung))
}

export function planProfile(request: PlanRequest): ProfilePlan {
  const { level, computeCapability, skip = [], limitSeconds = Infinity } = request
  const rungs = withImports(request.rungs).map(({ medianMs, ...rung }) => {
    const seconds = medianMs === null ? null : profileSeconds(level, { ...rung, medianMs })
    const skipped = skip.includes(rung.id) || (seconds ?? 0) > limitSeconds
    return { id: rung.id, seconds, skipped }
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

/** Measured cost of profiling. */
export const ProfileCost = z.object({
  level: CollectingLevel,
  /** Wall time of ncu, in seconds. */
  seconds: z.number(),
  rungs: z.array(
    z.object({
      id: Identifier,
      /** Maximum number of passes over all kernels. */
      passes: z.number().int(),
      /** Measured seconds, or null if the runner did not report them. */
      seconds: z.number().nullable(),
    }),
  ),
})
export type ProfileCost = z.infer<typeof ProfileCost>
