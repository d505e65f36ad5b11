/** Set L2 eviction hints, so that L2 first evicts results that are not read again. */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters } from '../evidence'

const worth = 90
const busyDram = 0.08

export const eviction: Move = {
  id: 'eviction',
  says: message('next.eviction'),
  costs: message('next.evictionCosts'),
  find(facts) {
    const hit = facts.value('l2HitRate')
    const capability = Number(facts.side.session.device?.computeCapability ?? 0)
    const reuses = facts.boundBy === 'operations'
    if (hit === null || hit > worth || capability < 8 || !reuses) return null
    if ((facts.busy.dram ?? 0) < busyDram) return null
    return {
      change: { work: { dram: 0.85 }, waits: { stallLongScoreboard: 0.9, stallBarrier: 0.95 } },
      evidence: counters(facts, 'l2HitRate', 'dramUtilization'),
    }
  },
}
