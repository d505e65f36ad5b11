/** Store or multiply with fewer bits, if the required accuracy allows it. */
import type { Move } from '../move'
import { counters, share } from '../evidence'
import { message } from '../../messages/message'

const full = 0.8

export const precision: Move = {
  id: 'precision',
  isLast: true,
  says: message('next.precision'),
  costs: message('next.precisionCosts'),
  find(facts) {
    const { busy } = facts
    const dram = busy.dram ?? 0
    const pipe = Math.max((busy.fma ?? 0) / 0.84, (busy.tensor ?? 0) / 0.96)
    const byMemory = facts.boundBy === 'bytes' && dram > full
    const byPipe = facts.boundBy === 'operations' && pipe > 0.97
    if (!byMemory && !byPipe) return null
    const unit = byMemory ? 'dram' : (busy.tensor ?? 0) > (busy.fma ?? 0) ? 'tensor' : 'fma'
    return {
      change: {
        work: { [unit]: 0.5, dram: 0.5, l2: 0.5, issue: 0.6, l1Data: 0.5 },
        instructions: 0.6,
        waits: { stallLongScoreboard: 0.3 },
      },
      evidence: [
        message('next.unitBusy', { unit: message(`unit.${unit}`), share: share(busy[unit] ?? 0) }),
        ...counters(facts, byMemory ? 'dramBytes' : 'instructions'),
      ],
    }
  },
}
