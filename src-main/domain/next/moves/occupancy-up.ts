/**
 * Fit more warps on an SM, with fewer registers per thread (launch bounds) or less shared memory
 * per block.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'
import { isLimitedByBlocks } from './larger-blocks'

/** Occupancy in percent above which more warps rarely hide more latency. */
const enough = 60
const worth = 0.3

export const occupancyUp: Move = {
  id: 'occupancy-up',
  says: message('next.occupancyUp'),
  costs: message('next.occupancyUpCosts'),
  find(facts) {
    const { waits, busy } = facts
    const now = facts.value('theoreticalOccupancy')
    if (waits === null || now === null || now <= 0 || now > enough || facts.spread < 0.9)
      return null
    if (isLimitedByBlocks(facts)) return null
    // Units near their limit already have enough warps. Tensor kernels hide latency by software
    // pipelining.
    const most = Math.max(...Object.values(busy))
    const hidden = waits.stallLongScoreboard + waits.stallShortScoreboard + waits.stallWait
    if (most > 0.7 || (busy.tensor ?? 0) > 0.05 || hidden < worth) return null
    const left = now / Math.min(100, 2 * now)
    return {
      change: {
        waits: { stallLongScoreboard: left, stallShortScoreboard: left, stallWait: left },
      },
      evidence: [
        ...counters(facts, 'theoreticalOccupancy', 'registersPerThread'),
        ...waiting(facts, 'stallLongScoreboard', 'stallShortScoreboard'),
      ],
    }
  },
}
