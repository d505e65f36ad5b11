/** Exchange values between lanes with shuffles instead of shared memory and a barrier. */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'

const worth = 0.1

export const shuffle: Move = {
  id: 'shuffle',
  says: message('next.shuffle'),
  costs: message('next.shuffleCosts'),
  find(facts) {
    const { waits, value } = facts
    if (waits === null || (value('sharedLoads') ?? 0) === 0 || facts.boundBy === 'operations')
      return null
    const exchange = waits.stallShortScoreboard + waits.stallMioThrottle + waits.stallBarrier
    if (exchange < worth) return null
    return {
      change: {
        instructions: 0.8,
        work: { l1Data: 0.5, lsu: 0.5 },
        waits: { stallShortScoreboard: 0.4, stallMioThrottle: 0.3, stallBarrier: 0.3 },
      },
      evidence: [
        ...waiting(facts, 'stallShortScoreboard', 'stallBarrier', 'stallMioThrottle'),
        ...counters(facts, 'sharedLoads'),
      ],
      burden: ({ opcode, stalls }) =>
        /^(LDS|STS|BAR)/.test(opcode) ? (stalls?.short_sb ?? 0) + (stalls?.barrier ?? 0) + 1 : 0,
    }
  },
}
