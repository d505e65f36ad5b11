/** The request for a run, from every host. */
import { z } from 'zod'
import { Identifier, Parameters } from '../domain/ladder/rung'
import { ProfileLevel } from '../domain/metrics/metric-definition'
import { CacheState, TimingWay } from '../domain/session/session'
import { TargetText } from '../domain/targets/targets'
import { DraftId } from '../domain/ladder/draft'
import { At } from '../domain/task/problem-request'

/** A ladder as named in a request: the id of a shipped one, or the path of a ladder folder. */
export const LadderName = z.string().min(1).max(4096)

/** The limit is above any machine's number of GPUs. */
const GpuNumber = z.number().int().min(0).max(255)

export const RunRequest = z.object({
  ladder: LadderName,
  /** Rung ids; all rungs of the ladder by default. The reference always runs with them. */
  rungs: z.array(Identifier).min(1).optional(),
  /** One value for all sizes of the ladder's task. */
  size: z.number().int().optional(),
  /** Sizes, scalars and options by name; the ladder's by default. */
  at: At.optional(),
  params: Parameters.default({}),
  target: TargetText,
  profile: ProfileLevel.default('card'),
  /** What is timed besides single launches: bursts take about six seconds per rung, sustained launches three. */
  timing: TimingWay.optional(),
  /** What L2 holds when a launch is timed; cold by default. */
  cacheState: CacheState.extract(['cold', 'warm']).optional(),
  /** Index of the GPU from 0 among this machine's visible ones; CUDA's first by default. */
  gpu: GpuNumber.optional(),
  /** An edited copy, run as a rung after its original. */
  draft: DraftId.optional(),
  /** Rungs to measure but not to profile. */
  profileSkip: z.array(Identifier).optional(),
  /** Skip profiling of rungs that are expected to take longer than this, in seconds. */
  profileLimitSeconds: z.number().positive().optional(),
})
export type RunRequest = z.infer<typeof RunRequest>
