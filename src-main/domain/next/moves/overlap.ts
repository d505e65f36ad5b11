/**
 * Overlap tiles: while the tensor cores work on the next tile, store the results of the current
 * tile or compute its softmax.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'
import { usesWarpgroups } from '../machine-code-signs'

export const overlap: Move = {
  id: 'overlap',
  says: message('next.overlap'),
  costs: message('next.overlapCosts'),
  find(facts) {
    const { waits, busy } = facts
    const tensor = busy.tensor ?? 0
    const capability = Number(facts.side.session.device?.computeCapability ?? 0)
    if (waits === null || tensor < 0.5 || tensor > 0.955 || capability < 9) return null
    if (!usesWarpgroups(facts)) return null
    return {
      change: {
        waits: {
          stallBarrier: 0.5,
          stallLongScoreboard: 0.6,
          stallWait: 0.7,
          stallMioThrottle: 0.7,
          stallShortScoreboard: 0.7,
        },
      },
      evidence: [
        ...counters(facts, 'tensorUtilization'),
        ...waiting(facts, 'stallBarrier', 'stallWait', 'stallMioThrottle'),
      ],
      burden: ({ opcode, stalls }) =>
        /^(STG|STS|STSM|UTMASTG)/.test(opcode) ? 1 + Object.values(stalls ?? {}).length : 0,
    }
  },
}
