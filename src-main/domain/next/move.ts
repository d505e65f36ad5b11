/**
 * A move: a change to a kernel, the condition for recommending the change, and the cost that the
 * change removes.
 */
import type { Burden } from '../why/cause-lines'
import type { AnyMessage } from '../messages/message'
import type { Change } from './bound'
import type { Facts } from './facts'

export interface Found {
  /** Effect on the kernel's work in the best case. */
  change: Change
  /** Counters and stall reasons that suggest the move, strongest first. */
  evidence: readonly AnyMessage[]
  /**
   * Contribution of each instruction to the cost that the move removes, used to find source lines.
   * Absent if no source line causes the cost.
   */
  burden?: Burden
}

export interface Move {
  id: string
  /** One sentence that describes the change. */
  says: AnyMessage
  /** Costs, such as registers or shared memory, and requirements. */
  costs: AnyMessage
  /**
   * Whether the move replaces the kernel or changes its results. A move that replaces the kernel or
   * changes its results is ranked last.
   */
  isLast?: true
  /** Returns the change and its evidence, or null if the move does not apply. */
  find(facts: Facts): Found | null
}
