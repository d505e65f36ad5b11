/**
 * Reorder blocks so that concurrent blocks work on a compact part of the matrix and share more data
 * in L2.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters } from '../evidence'

/** L2 hit rate in percent below which reordering can help. */
const worth = 92

export const l2Order: Move = {
  id: 'l2-order',
  says: message('next.l2Order'),
  costs: message('next.l2OrderCosts'),
  find(facts) {
    const hit = facts.value('l2HitRate')
    const { leastBytes, value } = facts
    const dram = value('dramBytes')
    if (hit === null || hit > worth || facts.boundBy !== 'operations' || dram === null) return null
    if (leastBytes !== null && dram < 1.3 * leastBytes) return null
    return {
      change: {
        work: { dram: 0.5 },
        waits: { stallLongScoreboard: 0.8, stallBarrier: 0.9, stallMioThrottle: 0.9 },
      },
      evidence: counters(facts, 'l2HitRate', 'dramBytes', 'dramUtilization'),
    }
  },
}
