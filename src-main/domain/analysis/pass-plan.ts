/**
 * Estimates the cost of profiling. ncu replays a kernel for each group of counters that can be collected together. The number of passes per
 * level is known from recorded runs, so for another GPU both the passes and their cost are estimates. Pure.
 */
import { z } from 'zod'
import { message, Statement } from '../messages/message'
import { ProfileLevel } from '../metrics/metric-definition'
import { Identifier } from '../ladder/rung'

const CollectingLevel = ProfileLevel.exclude(['none'])
type CollectingLevel = z.infer<typeof CollectingLevel>

/** Where the figures below were measured: an H200 with ncu 2025.3.1, 2026-11-21. */
const knownComputeCapability = '9.0'
const knownWith = message('tools.knownWith', {
  gpu: 'H200',
  computeCapability: knownComputeCapability,
  version: '2025.3.1',
})

interface LevelCost {
  /** Replay passes per kernel. */
  passes: number
  /** Time of a pass relative to the launch's own time, averaged over the passes of the level. */
  slowdown: number
  /** Overhead per pass of a kernel: flushing caches, restoring memory, reading counters; seconds. */
  secondsPerPass: number
}

/**
 * Fitted on an H200. card: gemm-fp32 at 4096, accurate to a seventh over the whole ladder. standard: gemm-tensor and gemm-3xtf32 at 4096,
 * to a tenth (recordings.test.ts). At the deep level some passes count inside the kernel, at about a nanosecond per instruction, which the
 * unprofiled time does not show: a rung without any waiting took 2.4 times the estimate, the whole ladder gemm-fp32 1.2 times.
 */
const costs: Record<CollectingLevel, LevelCost> = {
  card: { passes: 1, slowdown: 1, secondsPerPass: 0.013 },
  standard: { passes: 7, slowdown: 1, secondsPerPass: 0.03 },
  deep: { passes: 40, slowdown: 1.5, secondsPerPass: 0.1 },
}

/** Starting ncu, the runner and CUDA, making the inputs, and ncu's own preparation; seconds. */
const startSeconds = 2

/** Starting Python and importing a framework, if the run did not measure it: 2.3 to 4.9 s on the H200's machine. */
const importSeconds = 4

export const ProfilePlan = z.object({
  level: CollectingLevel,
  /** Per kernel. */
  passes: z.number().int(),
  /** The GPU and ncu version for which the pass count is known. */
  knownWith: Statement,
  /** Whether that GPU differs from the one at hand. */
  otherGpu: z.boolean(),
  rungs: z.array(
    z.object({
      id: Identifier,
      /** Null if the unprofiled time is unknown. */
      seconds: z.number().nullable(),
      /** Whether it is skipped, on request or because it takes too long. */
      skipped: z.boolean(),
    }),
  ),
  /** Total of all rungs that are not skipped, including startup; unknown rungs count as zero. */
  seconds: z.number(),
})
export type ProfilePlan = z.infer<typeof ProfilePlan>

/** What determines a rung's time under ncu. */
interface PlannedRung {
  id: string
  /** The unprofiled time of a launch. */
  medianMs: number | null
  /** Kernels of a launch; 1 by default. */
  kernels?: number | undefined
  /** Set for a rung that compiles its kernels when loaded, which it repeats under ncu. */
  prepared?: Preparation | undefined
}

interface Preparation {
  /** Compiling and the first launches. */
  seconds: number
  /** Loading time before that, such as starting Python and importing; absent if not measured. */
  loadSeconds?: number | undefined
}

interface PlanRequest {
  level: CollectingLevel
  /** `9.0`; null while the GPU is unknown. */
  computeCapability: string | null
  rungs: readonly PlannedRung[]
  /** Rungs to skip. */
  skip?: readonly string[]
  /** Rungs above this many seconds are skipped. */
  limitSeconds?: number
}

/** Returns a rung's time under ncu in seconds: its preparation, its unprofiled launch, and each pass. */
export function profileSeconds(
  level: CollectingLevel,
  { medianMs, kernels = 1, prepared }: Omit<PlannedRung, 'id'> & { medianMs: number },
): number {
  const { passes, slowdown, secondsPerPass } = costs[level]
  const launch = medianMs / 1000
  const preparation = prepared ? prepared.seconds + (prepared.loadSeconds ?? 0) : 0
  return preparation + launch + passes * (launch * slowdown + kernels * secondsPerPass)
}

/** Imports happen once per process, in the first rung that has them. */
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

/** The actual cost. */
export const ProfileCost = z.object({
  level: CollectingLevel,
  /** Wall time of ncu, in seconds. */
  seconds: z.number(),
  rungs: z.array(
    z.object({
      id: Identifier,
      /** The maximum over all kernels. */
      passes: z.number().int(),
      /** Null if the runner did not report it. */
      seconds: z.number().nullable(),
    }),
  ),
})
export type ProfileCost = z.infer<typeof ProfileCost>
