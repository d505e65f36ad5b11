/**
 * Types of the values that a run's stages pass to each other. A stage's map omits the rungs that
 * the stage did not reach.
 */
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

/** One rung's build result. */
export interface RungBuild {
  planned: PlannedRung
  /**
   * Compiler result. Null if the GPU cannot run the rung or the run was canceled before the build.
   */
  outcome: BuildOutcome | null
  /** Reason that the GPU cannot run the rung. */
  unsupported: Statement | null
}

/** A run's results for one built rung. */
export interface Finding extends Measured {
  alsoVerified?: readonly VerifiedAt[]
  /**
   * Status and reason if the rung's results were wrong or the rung failed at one of the additional
   * problems in `alsoVerified`.
   */
  elsewhere?: Pick<RungResult, 'status' | 'reason'>
  profile?: RungResult['profile']
  /** The rung's counters. Absent if the rung has no counters. */
  metrics?: Record<string, MetricValue>
  /** Time predicted by the timing model. */
  predicted?: PredictedTime
  notPredicted?: Statement
  /** Reason that the rung has no counters, if its status does not explain why. */
  uncounted?: Statement
}

/** A run's results for each rung and for the machine. */
export interface Findings {
  rungs: ReadonlyMap<string, Finding>
  warnings: readonly Statement[]
  /** Deep profiles by rung, stored next to session.json. */
  deep: DeepProfiles
  /**
   * Set if this machine could not provide the requested counters or lost its GPU during the run.
   */
  missing: ErrorShape | null
  ceilings?: Ceilings
  /** Settings that were used to collect counters. Absent if no counters were collected. */
  ncu?: {
    version: string | null
    settings: Pick<Session['settings'], 'clockControl' | 'cacheControl' | 'profileSkipped'>
  }
}
