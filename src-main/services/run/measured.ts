/** The runner's results for a rung: whether it is right, and its time. */
import type { Launch, Prepared, Timing, Verify } from '../../domain/session/session'
import type { Statement } from '../../domain/messages/message'

export interface Measured {
  verify: Verify | null
  timing: Timing | null
  /** The rung's launches; absent if the runner could not see them. */
  launches?: Launch[]
  /** What the rung compiled while it was loaded, such as a script's kernels. */
  prepared?: Prepared
  /** Seconds of loading before that, such as starting Python and importing. Meaningless in a replay. */
  loadSeconds?: number
  /** Set if the rung got no timing. */
  trouble?: { status: 'failed' | 'unsupported' | 'not-run'; reason: Statement }
}
