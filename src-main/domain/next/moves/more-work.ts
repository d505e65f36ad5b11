/**
 * Give each thread several independent elements. More elements per thread keep more loads in flight
 * and reduce block overhead per element.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'

const worth = 0.25
const memoryFull = 0.86

export const moreWork: Move = {
  id: 'more-work',
  says: message('next.moreWork'),
  costs: message('next.moreWorkCosts'),
  find(facts) {
    const { waits, busy } = facts
    if (waits === null || busy.dram === undefined || facts.boundBy === 'operations') return null
    const latency = waits.stallLongScoreboard + waits.stallShortScoreboard + waits.stallBarrier
    if (latency < worth || busy.dram > memoryFull) return null
    return {
      change: {
        instructions: 0.5,
        work: { lsu: 0.5, l1Data: 0.5 },
        waits: {
          stallLongScoreboard: 0.15,
          stallShortScoreboard: 0.5,
          stallBarrier: 0.5,
          stallMioThrottle: 0.5,
        },
      },
      evidence: [
        ...waiting(facts, 'stallLongScoreboard', 'stallBarrier', 'stallShortScoreboard'),
        ...counters(facts, 'dramUtilization', 'achievedOccupancy'),
      ],
      burden: ({ stalls }) => stalls?.long_sb ?? 0,
    }
  },
}
