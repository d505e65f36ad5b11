/**
 * Reduce stalls at barriers. Use fewer barriers, synchronize a warp or a pair of warps instead of
 * the block, or split a barrier into arrive and wait.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { waiting } from '../evidence'

const worth = 0.06

export const barriers: Move = {
  id: 'barriers',
  says: message('next.barriers'),
  costs: message('next.barriersCosts'),
  find(facts) {
    const barrier = facts.waits?.stallBarrier ?? 0
    if (barrier < worth) return null
    return {
      change: {
        removes: 'barriers',
        waits: { stallBarrier: 0, stallShortScoreboard: 0.7 },
        instructions: 0.92,
        work: { l1Data: 0.6, lsu: 0.6 },
      },
      evidence: waiting(facts, 'stallBarrier'),
      burden: ({ stalls }) => stalls?.barrier ?? 0,
    }
  },
}
