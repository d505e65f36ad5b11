/** Give each thread more registers at lower occupancy, so that larger tiles fit without spills. */
import type { Move } from '../move'
import { counters, waiting, share } from '../evidence'
import { message } from '../../messages/message'

const spare = 20
const fullPipe = 0.7

export const occupancyDown: Move = {
  id: 'occupancy-down',
  says: message('next.occupancyDown'),
  costs: message('next.occupancyDownCosts'),
  find(facts) {
    const { busy, waits, value } = facts
    const occupancy = value('theoreticalOccupancy')
    const spills = facts.side.rung.build?.spillStoreBytes ?? 0
    const fma = busy.fma ?? 0
    const hidden = waits !== null && waits.stallLongScoreboard < 0.05 && fma > fullPipe
    if (occupancy === null || occupancy < spare || !(hidden || spills > 0)) return null
    const around = Math.max(0, 1 - (value('ffmaShare') ?? 100) / 100)
    return {
      change: {
        instructions: spills > 0 ? 0.9 : 1 - around / 2,
        work: { l1Data: 0.7, lsu: 0.7 },
        waits: {
          stallBarrier: 0.2,
          stallNotSelected: 0.3,
          stallShortScoreboard: 0.5,
          stallDispatch: 0.5,
        },
      },
      evidence: [
        ...(spills > 0 ? [message('next.spills', { bytes: spills })] : []),
        ...counters(facts, 'theoreticalOccupancy', 'registersPerThread'),
        message('next.unitBusy', { unit: message('unit.fma'), share: share(fma) }),
        ...waiting(facts, 'stallBarrier'),
      ],
    }
  },
}
