/**
 * Compute fewer addresses: increment pointers, hoist loop-invariant parts, and let the compiler
 * fold constants.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters } from '../evidence'

const worth = 18
const issuing = 0.45

export const addressing: Move = {
  id: 'addressing',
  says: message('next.addressing'),
  costs: message('next.addressingCosts'),
  find(facts) {
    const integers = facts.value('integerShare') ?? 0
    if (integers < worth || (facts.busy.issue ?? 0) < issuing) return null
    return {
      change: { instructions: 1 - (0.6 * integers) / 100, waits: { stallNotSelected: 0.6 } },
      evidence: counters(facts, 'integerShare', 'issueSlotsBusy'),
      burden: ({ opcode, executed }) =>
        /^(IMAD|IADD3|LEA|ISETP|SHF|LOP3|UIADD3|UIMAD)\b/.test(opcode) ? (executed ?? 0) : 0,
    }
  },
}
