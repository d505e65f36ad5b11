/** The values passed between the stages of a run. A rung that a stage did not reach is absent from its map. */
import type { DeepProfiles } from '../../domain/session/deep'
import type { ErrorShape } from '../../domain/errors'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { Statement } from '../../domain/messages/message'
import type { MetricValue } from '../../domain/metrics/metrics'
import type { PlannedRung } from '../../domain/run/plan'
import type { PredictedTime } from '../../domain/session/predicted'
import type { RungResult, Session, VerifiedAt } from '../../domain/session/session'
import type { BuildOutcome } from '../bench/compiler'
import type { Measured } from './measured'

/** How one rung was built. */
export interface RungBuild {
  planned: PlannedRung
  /** null if the GPU cannot run it, or the run was cancelled first. */
  outcome: BuildOutcome | null
  /** Why the GPU cannot run it. */
  unsupported: Statement | null
}

/** A run's findings about one built rung. */
export interface Finding extends Measured {
  alsoVerified?: readonly VerifiedAt[]
  /** The final status if the rung was wrong or failed at one of those problems. */
  elsewhere?: Pick<RungResult, 'status' | 'reason'>
  profile?: RungResult['profile']
  /** Its counters; absent if it has none. */
  metrics?: Record<string, MetricValue>
  /** The timing model's prediction, or why there is none. */
  predicted?: PredictedTime
  notPredicted?: Statement
  /** Why the rung has no counters, if its status does not explain that. */
  uncounted?: Statement
}

/** A run's findings about its rungs, by id, and about the machine. */
export interface Findings {
  rungs: ReadonlyMap<string, Finding>
  warnings: readonly Statement[]
  /** Deep profiles by rung, stored next to session.json. */
  deep: DeepProfiles
  /** This machine could not provide the requested counters, or lost its GPU during the run. */
  missing: ErrorShape | null
  ceilings?: Ceilings
  /** How counters were collected; absent if none were. */
  ncu?: {
    version: string | null
    settings: Pick<Session['settings'], 'clockControl' | 'cacheControl' | 'profileSkipped'>
  }
}
