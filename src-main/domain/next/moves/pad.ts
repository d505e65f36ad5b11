/** Pad or swizzle a tile in shared memory, so that a warp's lanes access different banks. */
import type { Move } from '../move'
import { counters, share, waiting } from '../evidence'
import { message } from '../../messages/message'
import { shareOf } from '../facts'

/**
 * Minimum fraction of passes lost to bank conflicts. For comparison, ncu's rule reports conflicts
 * only if they reach 10 % of the passes.
 */
const worth = 0.06

export const pad: Move = {
  id: 'pad',
  says: message('next.pad'),
  costs: message('next.padCosts'),
  find(facts) {
    const { value } = facts
    const conflicts =
      (value('sharedLoadBankConflicts') ?? 0) + (value('sharedStoreBankConflicts') ?? 0)
    const passes = (value('sharedLoadWavefronts') ?? 0) + (value('sharedStoreWavefronts') ?? 0)
    const excess = structural(facts) ?? (passes > 0 ? Math.min(1, conflicts / passes) : 0)
    const loads = shareOf(facts, 'sharedLoadBankConflicts', 'sharedLoadWavefronts')
    const stores = shareOf(facts, 'sharedStoreBankConflicts', 'sharedStoreWavefronts')
    if (excess < worth && Math.max(loads, stores) < 3 * worth) return null
    // Global memory accesses use the same L1 data stage, with 128 bytes per pass.
    const global = (value('l1Bytes') ?? 0) / 128
    const inStage = passes / Math.max(1, passes + global)
    const left = 1 - excess
    return {
      change: {
        removes: 'conflicts',
        work: { l1Data: 1 - excess * inStage },
        waits: {
          stallShortScoreboard: left,
          stallMioThrottle: left,
          stallBarrier: 1 - excess / 2,
          stallLongScoreboard: excess > 0.5 ? left : 1,
          stallDispatch: left,
        },
      },
      evidence: [
        message('next.conflictShare', { share: share(Math.max(excess, loads, stores)) }),
        ...counters(facts, 'sharedLoadBankConflicts', 'sharedStoreBankConflicts'),
        ...waiting(facts, 'stallShortScoreboard', 'stallMioThrottle'),
      ],
      burden: ({ sharedWavefrontsExcess }) => sharedWavefrontsExcess ?? 0,
    }
  },
}

/**
 * Returns the fraction of passes in excess of the ideal count, or null if passes were not counted
 * per instruction.
 */
function structural({ code }: Parameters<Move['find']>[0]): number | null {
  const all = code.reduce((sum, { sharedWavefronts }) => sum + (sharedWavefronts ?? 0), 0)
  const excess = code.reduce((sum, { sharedWavefrontsExcess: own }) => sum + (own ?? 0), 0)
  return all > 0 ? excess / all : null
}
