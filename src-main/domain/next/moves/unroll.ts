/**
 * Unroll a loop with a known trip count. Unrolling removes the instructions for the loop counter,
 * branches and barriers.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'

const worth = 5

export const unroll: Move = {
  id: 'unroll',
  says: message('next.unroll'),
  costs: message('next.unrollCosts'),
  find(facts) {
    const control = facts.value('controlShare') ?? 0
    const barrier = facts.waits?.stallBarrier ?? 0
    if (control < worth || (facts.busy.issue ?? 0) < 0.3) return null
    return {
      change: {
        instructions: Math.max(0.5, 1 - (1.5 * control) / 100),
        work: { l1Data: 0.7, lsu: 0.7 },
        waits: { stallBarrier: barrier > 0 ? 0.5 : 1, stallShortScoreboard: 0.6 },
      },
      evidence: [
        ...counters(facts, 'controlShare', 'issueSlotsBusy'),
        ...waiting(facts, 'stallBarrier'),
      ],
      burden: ({ opcode, executed }) =>
        /^(BRA|BSSY|BSYNC|ISETP)\b/.test(opcode) ? (executed ?? 0) : 0,
    }
  },
}
