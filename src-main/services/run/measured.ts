/** The runner's results for one rung: its correctness and its time. */
import type { Launch, Prepared, Timing, Verify } from '../../domain/session/session'
import type { Statement } from '../../domain/messages/message'

export interface Measured {
  verify: Verify | null
  timing: Timing | null
  /** The rung's launches. Absent if the runner could not record the launches. */
  launches?: Launch[]
  /**
   * Kernels that the rung compiled while it was loaded, such as Triton kernels in a Python script.
   */
  prepared?: Prepared
  /**
   * Seconds spent loading the rung before compilation, such as the time to start Python and import
   * modules. The value is meaningless in a replay.
   */
  loadSeconds?: number
  /** Reason that the rung has no time, and the resulting status. */
  trouble?: { status: 'failed' | 'unsupported' | 'not-run'; reason: Statement }
}
