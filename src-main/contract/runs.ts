/** The request for a run, shared by all hosts. */
import { z } from 'zod'
import { Identifier, Parameters } from '../domain/ladder/rung'
import { ProfileLevel } from '../domain/metrics/metric-definition'
import { CacheState, TimingWay } from '../domain/session/session'
import { TargetText } from '../domain/targets/targets'
import { DraftId } from '../domain/ladder/draft'
import { At } from '../domain/task/problem-request'

/** A ladder in a request: the id of a built-in ladder or the path of a ladder folder. */
export const LadderName = z.string().min(1).max(4096)

/** Index of a GPU. The limit exceeds the number of GPUs in any machine. */
const GpuNumber = z.number().int().min(0).max(255)

export const RunRequest = z.object({
  ladder: LadderName,
  /** Rung ids; all of the ladder's rungs by default. The reference always runs too. */
  rungs: z.array(Identifier).min(1).optional(),
  /** One value for all sizes of the ladder's task. */
  size: z.number().int().optional(),
  /** Sizes, scalars and options by name. Defaults are the ladder's values. */
  at: At.optional(),
  params: Parameters.default({}),
  target: TargetText,
  profile: ProfileLevel.default('card'),
  /**
   * Additional timing modes besides single launches. Bursts take about six seconds per rung, and
   * sustained launches three.
   */
  timing: TimingWay.optional(),
  /** L2 state before each timed launch; cold by default. */
  cacheState: CacheState.extract(['cold', 'warm']).optional(),
  /**
   * Index of the GPU among this machine's visible GPUs, from 0. The default is CUDA's first GPU.
   */
  gpu: GpuNumber.optional(),
  /** Id of a draft, which runs as an extra rung right after the rung that it edits. */
  draft: DraftId.optional(),
  /** Rungs to measure but not to profile. */
  profileSkip: z.array(Identifier).optional(),
  /** Skips profiling of rungs whose expected profiling time exceeds this many seconds. */
  profileLimitSeconds: z.number().positive().optional(),
})
export type RunRequest = z.infer<typeof RunRequest>
