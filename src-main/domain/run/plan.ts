/** What a run is to do, decided before anything is built. */
import type { LadderRung, Ladder } from '../ladder/ladder'
import type { Parameters } from '../ladder/rung'
import type { Statement } from '../messages/message'
import type { TimingWay } from '../session/session'
import type { ProfileLevel } from '../metrics/metric-definition'
import type { Problem } from '../task/problem'
import type { Task } from '../task/task'

export interface PlannedRung {
  rung: LadderRung
  source: string
  /** The contents of a file that is not text, which `source` then describes. */
  bytes?: Uint8Array
  /** What it is built with in place of the plan's headers. */
  headers?: ReadonlyMap<string, string>
}

export interface RunPlan {
  ladder: Ladder
  /** The task of its rungs, also in the ladder. */
  task: Task
  /** The task's headers, text by path; none in a replay, which builds nothing. */
  headers: ReadonlyMap<string, string>
  problem: Problem
  /** The rungs to report, in ladder order. */
  rungs: PlannedRung[]
  /** The requested parameters; each is applied to the rungs that allow the value. */
  requestedParameters?: Parameters
  /** What to say before anything is done, such as which rungs have such a parameter and do not allow the value. */
  parametersLeft?: readonly Statement[]
  /** Timed alternately with each rung; also one of `rungs` if requested. */
  reference: PlannedRung | null
  profile: ProfileLevel
  timing: TimingWay
  /** Rungs not to profile, besides those that would take longer than `profileLimitSeconds`. */
  profileSkip: readonly string[]
  profileLimitSeconds?: number
  /** The rung that the others are checked against, if there is no reference file; may also be one of `rungs`. */
  trusted: PlannedRung | null
  /** The folder of the files that fill buffers; null in a replay. */
  taskFolder: string | null
  /** Further problems at which these rungs are verified; their times there are discarded. */
  alsoVerify?: {
    rungs: readonly string[]
    problems: readonly Problem[]
    /** A rung that is wrong there counts as wrong and has no time. */
    decides: boolean
  }
}
