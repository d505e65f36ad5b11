/**
 * Defines a kind of run (a way): the GPU for which rungs are built, and the function that examines
 * the built rungs.
 */
import type { RunEvent } from '../../contract/index'
import type { Statement } from '../../domain/messages/message'
import type { RunPlan } from '../../domain/run/plan'
import type { PredictionSource } from '../../domain/session/predicted'
import type { Session } from '../../domain/session/session'
import type { Bench } from '../bench/bench'
import type { Builds, BuildWay } from './build-rungs'
import type { Findings } from './finding'
import type { Progress } from './progress'
import type { MetricsWithoutCounters } from './rung-result'

export interface Way extends BuildWay {
  readonly settings: Omit<Session['settings'], 'nvccFlags'>
  readonly prediction?: PredictionSource
  readonly warnings: readonly Statement[]
  readonly withoutCounters: MetricsWithoutCounters
  /** Examines the built rungs. On cancellation, returns the results collected so far. */
  examine(builds: Builds, progress: Progress): Promise<Findings>
}

/** Parameters for preparing a run. */
interface Opening {
  bench: Bench
  plan: RunPlan
  emit: (event: RunEvent) => void
}

/**
 * Prepares a run of one kind on a machine. Throws `missing` if the machine does not meet a
 * requirement.
 */
export type OpenWay = (opening: Opening) => Promise<Way>
