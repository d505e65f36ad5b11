/** Prefetch the next tile into registers or a second buffer while the current tile is computed. */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { waiting, counters } from '../evidence'
import { stagesAsynchronously } from '../machine-code-signs'

/**
 * Minimum fraction of warp time in memory and barrier stalls. Below this fraction, prefetching does
 * not help.
 */
const worth = 0.12

export const prefetch: Move = {
  id: 'prefetch',
  says: message('next.prefetch'),
  costs: message('next.prefetchCosts'),
  find(facts) {
    const { waits, value } = facts
    if (waits === null || (value('sharedLoads') ?? 0) === 0 || facts.boundBy === 'bytes')
      return null
    const hidden = waits.stallLongScoreboard + waits.stallBarrier
    if (hidden < worth || stagesAsynchronously(facts)) return null
    return {
      change: {
        removes: 'latency',
        waits: {
          stallLongScoreboard: 0.05,
          stallBarrier: 0.5,
          stallShortScoreboard: 0.5,
          stallNotSelected: 0.8,
        },
      },
      evidence: [
        ...waiting(facts, 'stallLongScoreboard', 'stallBarrier'),
        ...counters(facts, 'issueSlotsBusy'),
      ],
      burden: ({ stalls }) => (stalls?.long_sb ?? 0) + (stalls?.barrier ?? 0),
    }
  },
}
