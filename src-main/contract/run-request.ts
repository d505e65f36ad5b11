/** What is asked of a run, on every way to one. */
import { z } from 'zod'
import { DraftId } from '../domain/ladder/draft'
import { Identifier, Parameters } from '../domain/ladder/rung'
import { ProfileLevel } from '../domain/metrics/metric-definition'
import { TargetText } from '../domain/target/targets'
import { At } from '../domain/task/choose'
import { LadderName } from './ladder-name'

export const RunRequest = z.object({
  ladder: LadderName,
  /** Rung ids; all rungs of the ladder when absent. The reference always runs beside them. */
  rungs: z.array(Identifier).min(1).optional(),
  /** Every size of the ladder's task. */
  size: z.number().int().optional(),
  /** Its sizes, scalars and options by name; the ladder's own where absent. */
  at: At.optional(),
  params: Parameters.default({}),
  target: TargetText,
  profile: ProfileLevel.default('card'),
  /** A copy that is being edited, run as a rung after the one that it was copied from. */
  draft: DraftId.optional(),
  /** Rungs that are measured and not profiled. */
  profileSkip: z.array(Identifier).optional(),
  /** A rung whose profile is expected to take longer is left out of profiling; seconds. */
  profileLimitSeconds: z.number().positive().optional(),
})
export type RunRequest = z.infer<typeof RunRequest>
