/** Reduce divergence: assign work so that all threads of a warp take the same path. */
import type { Move } from '../move'
import { share } from '../evidence'
import { message } from '../../messages/message'

/** Fraction of active lanes per instruction below which this move applies. */
const worth = 0.8

export const divergence: Move = {
  id: 'divergence',
  says: message('next.divergence'),
  costs: message('next.divergenceCosts'),
  find(facts) {
    const { lanes } = facts
    if (lanes === null || lanes > worth || (facts.busy.tensor ?? 0) > 0.05) return null
    return {
      change: { instructions: lanes, work: { lsu: lanes } },
      evidence: [message('next.lanes', { share: share(lanes) })],
      burden: ({ executed, threadExecuted }) =>
        executed === null || threadExecuted === null
          ? 0
          : Math.max(0, executed - threadExecuted / 32),
    }
  },
}
