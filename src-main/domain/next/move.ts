/** A move: a change to a kernel, the condition for it, and the cost that it removes. */
import type { Burden } from '../why/cause-lines'
import type { AnyMessage } from '../messages/message'
import type { Change } from './bound'
import type { Facts } from './facts'

export interface Found {
  /** The best-case change to the kernel's work. */
  change: Change
  /** Counters and stalls that suggest the move, strongest first. */
  evidence: readonly AnyMessage[]
  /**
   * Weight of each instruction in the problem, used to find source lines. The field is absent if no
   * line is responsible.
   */
  burden?: Burden
}

export interface Move {
  id: string
  /** One sentence that describes the change. */
  says: AnyMessage
  /** Costs, such as registers or shared memory, and requirements. */
  costs: AnyMessage
  /** Ranks the move last, because it replaces the kernel or changes its results. */
  isLast?: true
  /** Returns the change and its evidence, or null if the move does not apply. */
  find(facts: Facts): Found | null
}
