/** A move: one change that an engineer can make to a kernel, when it applies, and what it removes. */
import type { Burden } from '../why/cause-lines'
import type { AnyMessage } from '../messages/message'
import type { Change } from './bound'
import type { Facts } from './facts'

export interface Found {
  /** What the move removes in the best case. */
  change: Change
  /** The counters and stalls that suggest it, strongest first. */
  evidence: readonly AnyMessage[]
  /** Which instructions cause the problem, to find their source lines; absent if no line does. */
  burden?: Burden
}

export interface Move {
  id: string
  /** A sentence that says what to change. */
  says: AnyMessage
  /** Costs in registers, shared memory or otherwise, and requirements. */
  costs: AnyMessage
  /** Replaces the kernel or changes its results, so it is ranked after all other moves. */
  isLast?: true
  /** Returns null if the move does not apply. */
  find(facts: Facts): Found | null
}
