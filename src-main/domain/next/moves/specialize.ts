/**
 * Specialize warps: a producer warp keeps copies in flight, and two groups of consumer warps take
 * turns computing.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'
import { usesWarpgroups } from '../machine-code-signs'

const worth = 0.12

export const specialize: Move = {
  id: 'specialize',
  says: message('next.specialize'),
  costs: message('next.specializeCosts'),
  find(facts) {
    const { waits, busy } = facts
    const tensor = busy.tensor ?? 0
    const capability = Number(facts.side.session.device?.computeCapability ?? 0)
    if (waits === null || tensor < 0.3 || tensor > 0.93 || capability < 9) return null
    const held = waits.stallBarrier + waits.stallLongScoreboard + waits.stallWait
    const warpgroups = usesWarpgroups(facts)
    const grouped = (facts.threads ?? 0) >= 384
    if (held < worth || grouped || !warpgroups) return null
    return {
      change: {
        work: { l2: 0.85 },
        waits: {
          stallBarrier: 0.3,
          stallLongScoreboard: 0.3,
          stallWait: 0.5,
          stallMioThrottle: 0.5,
        },
      },
      evidence: [
        ...waiting(facts, 'stallBarrier', 'stallLongScoreboard', 'stallWait'),
        ...counters(facts, 'tensorUtilization'),
      ],
      burden: ({ stalls }) => (stalls?.barrier ?? 0) + (stalls?.long_sb ?? 0),
    }
  },
}
