/** Try other block shapes. Smaller blocks wait less at barriers. Larger blocks share more data. */
import type { Move } from '../move'
import { counters, waiting } from '../evidence'
import { message } from '../../messages/message'

const worth = 0.04

export const blockShape: Move = {
  id: 'block-shape',
  says: message('next.blockShape'),
  costs: message('next.blockShapeCosts'),
  find(facts) {
    const { waits, threads } = facts
    if (waits === null || threads === null || (facts.busy.tensor ?? 0) > 0.05) return null
    const blocked = waits.stallBarrier
    if (blocked < worth || threads < 128) return null
    return {
      change: { waits: { stallBarrier: 0.4, stallLongScoreboard: 0.7, stallShortScoreboard: 0.8 } },
      evidence: [
        message('next.threads', { threads }),
        ...waiting(facts, 'stallBarrier'),
        ...counters(facts, 'theoreticalOccupancy', 'achievedOccupancy'),
      ],
    }
  },
}
