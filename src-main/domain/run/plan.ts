/** The complete plan of a run, created before anything is compiled. */
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
  /**
   * Content of the rung's file if the file is binary. `source` then contains a description of the
   * file.
   */
  bytes?: Uint8Array
  /** Headers for compiling this rung, instead of the plan's headers. */
  headers?: ReadonlyMap<string, string>
}

export interface RunPlan {
  ladder: Ladder
  /** The ladder's task, which is also stored in `ladder`. */
  task: Task
  /** Text of the task's headers, keyed by path. Empty for a replay, which compiles nothing. */
  headers: ReadonlyMap<string, string>
  problem: Problem
  /** Rungs to report, in ladder order. */
  rungs: PlannedRung[]
  /**
   * Requested parameter values. Each parameter value applies only to the rungs that allow the
   * value.
   */
  requestedParameters?: Parameters
  /**
   * Messages to show before the run starts, for example about rungs that do not allow a requested
   * parameter value.
   */
  parametersLeft?: readonly Statement[]
  /**
   * The reference, which is timed alternately with each rung. If the reference was requested as a
   * rung, it is also in `rungs`.
   */
  reference: PlannedRung | null
  profile: ProfileLevel
  timing: TimingWay
  /** Rungs not to profile, in addition to those that would exceed `profileLimitSeconds`. */
  profileSkip: readonly string[]
  profileLimitSeconds?: number
  /**
   * The rung whose results are used to verify the other rungs if there is no reference file. This
   * rung may also be in `rungs`.
   */
  trusted: PlannedRung | null
  /** Folder that contains the files for buffer fills, or null for a replay. */
  taskFolder: string | null
  /**
   * Additional problems for verifying some of the rungs. Only the results are checked; no times are
   * kept.
   */
  alsoVerify?: {
    rungs: readonly string[]
    problems: readonly Problem[]
    /**
     * Whether a wrong result for an additional problem makes the rung wrong and discards its time.
     */
    decides: boolean
  }
}
