/**
 * Multicast shared tiles within a cluster. Each block loads one part of a tile for all blocks of
 * the cluster, which reduces L2 reads.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'
import { usesCopyEngine } from '../machine-code-signs'

const worth = 0.45

export const cluster: Move = {
  id: 'cluster',
  says: message('next.cluster'),
  costs: message('next.clusterCosts'),
  find(facts) {
    const { busy, waits, side } = facts
    const capability = Number(side.session.device?.computeCapability ?? 0)
    const clusters = side.rung.profile?.kernels.some(
      ({ resources }) => (resources?.clusterBlocks ?? 0) > 1,
    )
    const tensor = busy.tensor ?? 0
    if (waits === null || capability < 9 || clusters || tensor < 0.3 || (busy.l2 ?? 0) < worth)
      return null
    if (!usesCopyEngine(facts) && (busy.lsu ?? 0) > 0.05) return null
    return {
      change: { work: { l2: 0.67 }, waits: { stallLongScoreboard: 0.7, stallBarrier: 0.9 } },
      evidence: [...counters(facts, 'l2Utilization'), ...waiting(facts, 'stallLongScoreboard')],
    }
  },
}
