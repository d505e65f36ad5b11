/** A kind of run: the GPU that its rungs are built for, and how they are examined. */
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
  /** Examines the builds. On cancellation, returns what was found so far. */
  examine(builds: Builds, progress: Progress): Promise<Findings>
}

/** What a way needs in order to open. */
interface Opening {
  bench: Bench
  plan: RunPlan
  emit: (event: RunEvent) => void
}

/** Throws `missing` if the machine lacks something. */
export type OpenWay = (opening: Opening) => Promise<Way>
