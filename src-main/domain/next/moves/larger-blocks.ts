/**
 * Use larger blocks. The number of blocks per SM is limited, so small blocks leave warp slots
 * empty.
 */
import { smLimits } from '../../gpu/sm-limits'
import { message } from '../../messages/message'
import { counters, waiting } from '../evidence'
import type { Facts } from '../facts'
import type { Move } from '../move'

/** Tolerance factor for rounding in ncu's percentages. */
const equal = 1.02

/**
 * Returns the occupancy in percent that the SM's block limit allows for the kernel's block size, or
 * null if unknown.
 */
function mostByBlocks({ side, threads }: Facts): number | null {
  const { device } = side.session
  const limits = device ? smLimits(device.computeCapability) : null
  if (!limits || threads === null) return null
  return (100 * limits.blocksPerSm * threads) / limits.threadsPerSm
}

/** Returns whether the number of blocks per SM limits the theoretical occupancy. */
export function isLimitedByBlocks(facts: Facts): boolean {
  const most = mostByBlocks(facts)
  const now = facts.value('theoreticalOccupancy')
  return most !== null && now !== null && most < 100 && most <= now * equal
}

/**
 * Minimum fraction of stalled warp cycles for the move to apply. With fewer stalls, more warps do
 * not help.
 */
const worth = 0.3

export const largerBlocks: Move = {
  id: 'larger-blocks',
  says: message('next.largerBlocks'),
  costs: message('next.largerBlocksCosts'),
  find(facts) {
    const { waits, threads } = facts
    const [now, achieved] = [facts.value('theoreticalOccupancy'), facts.value('achievedOccupancy')]
    if (!isLimitedByBlocks(facts) || waits === null || threads === null || now === null) return null
    const hidden = waits.stallLongScoreboard + waits.stallShortScoreboard + waits.stallWait
    // If the grid does not fill the SMs, larger blocks leave even more SMs idle.
    if (hidden < worth || (facts.value('wavesPerSm') ?? 0) < 1) return null
    return {
      change: { warps: Math.max(1, 90 / Math.max(now, achieved ?? now)) },
      evidence: [
        message('next.threads', { threads }),
        ...counters(facts, 'theoreticalOccupancy', 'achievedOccupancy'),
        ...waiting(facts, 'stallLongScoreboard', 'stallShortScoreboard'),
      ],
    }
  },
}
