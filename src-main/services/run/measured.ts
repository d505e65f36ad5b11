/** Results of the runner for a rung: whether its results are right, and its time. */
import type { Launch, Prepared, Timing, Verify } from '../../domain/session/session'
import type { Statement } from '../../domain/messages/message'

export interface Measured {
  verify: Verify | null
  timing: Timing | null
  /** Launches of the rung. Absent if the runner could not record them. */
  launches?: Launch[]
  /** Kernels that the rung compiled while it was loaded, such as a script's kernels. */
  prepared?: Prepared
  /**
   * Seconds spent loading the rung before compilation, such as starting Python and importing.
   * Meaningless in a replay.
   */
  loadSeconds?: number
  /** Set if the rung has no time. */
  trouble?: { status: 'failed' | 'unsupported' | 'not-run'; reason: Statement }
}
