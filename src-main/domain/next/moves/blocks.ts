/**
 * Change the number of blocks. Launch enough blocks to fill the SMs, or only as many as fit and let
 * each block loop over more work.
 */
import type { Move } from '../move'
import { counters, waiting, share } from '../evidence'
import { message } from '../../messages/message'

/**
 * Maximum number of waves for blocks with little work. Above this limit, launching the blocks costs
 * more than load balancing gains.
 */
const many = 20
/**
 * Sectors per request. With more than `scattered` sectors per request, each lane reads its own row.
 * With `aligned` sectors, adjacent lanes read adjacent elements.
 */
const scattered = 17
const aligned = 4

export const blocks: Move = {
  id: 'blocks',
  says: message('next.blocks'),
  costs: message('next.blocksCosts'),
  find(facts) {
    const waves = facts.value('wavesPerSm')
    const achieved = facts.value('achievedOccupancy') ?? 100
    if (waves === null || waves <= 0 || facts.waits === null) return null
    const theoretical = facts.value('theoreticalOccupancy') ?? 100
    const sectors = facts.value('globalLoadSectorsPerRequest') ?? 0
    const idle = waves < 0.5 && achieved < 30 && facts.boundBy !== 'operations'
    const tooFew = facts.spread < 0.75 && waves < 1 && facts.boundBy !== 'operations'
    const tooMany = waves > many && facts.boundBy === 'bytes' && (facts.busy.dram ?? 1) < 0.75
    if (!tooFew && !idle && !tooMany) return null
    const fills = tooFew || idle
    return {
      change: fills
        ? {
            spread: 1,
            warps: Math.max(1, (0.9 * theoretical) / achieved),
            // If each thread reads its own row, adjacent lanes access different cache lines.
            work:
              sectors > scattered
                ? { l1Data: aligned / sectors, l2: aligned / sectors, dram: 0.5 }
                : {},
          }
        : {
            instructions: 0.3,
            work: { l1Data: 0.3, lsu: 0.3, l2: 0.8 },
            waits: { stallBarrier: 0.2, stallShortScoreboard: 0.3, stallLongScoreboard: 0.3 },
          },
      evidence: [
        ...counters(facts, 'wavesPerSm', 'achievedOccupancy'),
        ...(facts.spread < 1 ? [message('next.spread', { share: share(facts.spread) })] : []),
        ...waiting(facts, 'stallBarrier', 'stallLongScoreboard'),
      ],
    }
  },
}
