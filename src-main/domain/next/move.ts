/** A move: one change that an engineer can make to a kernel, with when it applies and what it removes. */
import type { Burden } from '../why/cause-lines'
import type { AnyMessage } from '../messages/message'
import type { Change } from './bound'
import type { Facts } from './facts'

export interface Found {
  /** What the move removes at best. */
  change: Change
  /** The counters and stalls that it follows from, most telling first. */
  evidence: readonly AnyMessage[]
  /** Which instructions bear the cause, to find its source lines; absent if it is in no line. */
  burden?: Burden
}

export interface Move {
  id: string
  /** What to change, a sentence. */
  says: AnyMessage
  /** What it costs in registers, shared memory or otherwise, and what it needs. */
  costs: AnyMessage
  /** It replaces the kernel or changes its results, so that it is offered after all that do not. */
  isLast?: true
  /** Null where it does not apply. */
  find(facts: Facts): Found | null
}
