/** The complete plan of a run, made before anything is compiled. */
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
  /** Content of a binary file. `source` then contains a description. */
  bytes?: Uint8Array
  /** Headers for this rung's build, in place of the plan's headers. */
  headers?: ReadonlyMap<string, string>
}

export interface RunPlan {
  ladder: Ladder
  /** The task of the ladder's rungs, also stored in the ladder. */
  task: Task
  /** Headers of the task: text by path. The map is empty in a replay, which compiles nothing. */
  headers: ReadonlyMap<string, string>
  problem: Problem
  /** Rungs to report, in ladder order. */
  rungs: PlannedRung[]
  /** Requested parameters. Each applies to the rungs that allow its value. */
  requestedParameters?: Parameters
  /**
   * Messages to show before the run starts, such as rungs that do not allow a requested parameter
   * value.
   */
  parametersLeft?: readonly Statement[]
  /** The reference, timed alternately with each rung. If requested, it is also in `rungs`. */
  reference: PlannedRung | null
  profile: ProfileLevel
  timing: TimingWay
  /** Rungs not to profile, in addition to those that would exceed `profileLimitSeconds`. */
  profileSkip: readonly string[]
  profileLimitSeconds?: number
  /**
   * The rung that others are verified against if there is no reference file. It may also be in
   * `rungs`.
   */
  trusted: PlannedRung | null
  /** Folder of the files for buffer fills; null in a replay. */
  taskFolder: string | null
  /** Additional problems at which these rungs are verified. Their times are discarded. */
  alsoVerify?: {
    rungs: readonly string[]
    problems: readonly Problem[]
    /**
     * Whether a wrong result at an additional problem makes the rung wrong and discards its time.
     */
    decides: boolean
  }
}
