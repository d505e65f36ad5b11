/** What the runner found out about a rung: whether it is right, and how long it takes. */
import type { Launch, Prepared, Timing, Verify } from '../../domain/session/session'
import type { Statement } from '../../domain/messages/message'

export interface Measured {
  verify: Verify | null
  timing: Timing | null
  /** Its launches; absent if the runner could not see them. */
  launches?: Launch[]
  /** What it compiled as it was loaded, such as a script's kernels. */
  prepared?: Prepared
  /** What loading took before that, such as starting Python and importing; seconds. Means nothing in a replay. */
  loadSeconds?: number
  /** Set if it got no timing. */
  trouble?: { status: 'failed' | 'unsupported' | 'not-run'; reason: Statement }
}
