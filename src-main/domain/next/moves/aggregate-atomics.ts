/** Aggregate within a warp or a block first, then update global memory once per block. */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'
import { usesGlobalAtomics } from '../machine-code-signs'

export const aggregateAtomics: Move = {
  id: 'aggregate-atomics',
  says: message('next.aggregateAtomics'),
  costs: message('next.aggregateAtomicsCosts'),
  find(facts) {
    const { waits, busy } = facts
    if (waits === null || !usesGlobalAtomics(facts) || (busy.dram ?? 1) > 0.8) return null
    const queue = waits.stallLgThrottle + waits.stallShortScoreboard + waits.stallMioThrottle
    const atomics = queue + waits.stallLongScoreboard + waits.stallBarrier
    if (atomics < 0.6) return null
    return {
      change: {
        work: { l2: 0.1, lsu: 0.5 },
        waits: {
          stallLgThrottle: 0,
          stallShortScoreboard: 0.02,
          stallMioThrottle: 0.02,
          stallLongScoreboard: 0.02,
          stallBarrier: 0.1,
        },
      },
      evidence: [
        ...waiting(facts, 'stallLongScoreboard', 'stallShortScoreboard', 'stallLgThrottle'),
        ...counters(facts, 'l2Utilization'),
      ],
      burden: ({ opcode, executed }) => (/^(RED|ATOM)/.test(opcode) ? (executed ?? 0) : 0),
    }
  },
}
