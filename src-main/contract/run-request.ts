/** The request for a run, from every host. */
import { z } from 'zod'
import { DraftId } from '../domain/ladder/draft'
import { Identifier, Parameters } from '../domain/ladder/rung'
import { ProfileLevel } from '../domain/metrics/metric-definition'
import { TimingWay } from '../domain/session/session'
import { TargetText } from '../domain/target/targets'
import { At } from '../domain/task/choose'
import { LadderName } from './ladder-name'

/** No machine has so many. */
export const GpuNumber = z.number().int().min(0).max(255)

export const RunRequest = z.object({
  ladder: LadderName,
  /** Rung ids; by default all rungs of the ladder. The reference always runs with them. */
  rungs: z.array(Identifier).min(1).optional(),
  /** One value for all sizes of the ladder's task. */
  size: z.number().int().optional(),
  /** Sizes, scalars and options by name; the ladder's by default. */
  at: At.optional(),
  params: Parameters.default({}),
  target: TargetText,
  profile: ProfileLevel.default('card'),
  /** `burst`: bursts of launches on a rested GPU are timed too, which takes some six seconds a rung. */
  timing: TimingWay.optional(),
  /** Which of this machine's GPUs, counting from 0 among those that are visible; CUDA's first by default. */
  gpu: GpuNumber.optional(),
  /** An edited copy, run as a rung after its original. */
  draft: DraftId.optional(),
  /** Rungs to measure but not to profile. */
  profileSkip: z.array(Identifier).optional(),
  /** Rungs whose profiling is expected to take longer are not profiled; seconds. */
  profileLimitSeconds: z.number().positive().optional(),
})
export type RunRequest = z.infer<typeof RunRequest>
