/**
 * Read each element once: keep it in registers or shared memory between passes, or update the
 * result while streaming.
 */
import { formatRatio } from '../../metrics/units'
import type { Found, Move } from '../move'
import type { Facts } from '../facts'
import { flops } from '../../task/problem'
import { counters } from '../evidence'
import { message } from '../../messages/message'

/** Minimum ratio of DRAM traffic to required bytes at which a pass can be saved. */
const worthInDram = 1.2
/**
 * Minimum ratio of L2 traffic to required bytes. The ratio is higher than for DRAM, because L2 also
 * counts writes and evictions.
 */
const worthInL2 = 1.6

/**
 * Minimum ratio of executed operations to the task's operations. A ratio above this value indicates
 * duplicated work.
 */
const worthInWork = 1.3

export const onePass: Move = {
  id: 'one-pass',
  says: message('next.onePass'),
  costs: message('next.onePassCosts'),
  find(facts) {
    const { leastBytes, value } = facts
    const again = repeated(facts)
    if (again !== null) return again
    const l2 = value('l2Bytes')
    const dram = value('dramBytes')
    if (leastBytes === null || leastBytes <= 0 || l2 === null || facts.waits === null) return null
    const [inL2, inDram] = [l2 / leastBytes, (dram ?? 0) / leastBytes]
    if (facts.boundBy !== 'bytes' || (inL2 < worthInL2 && inDram < worthInDram)) return null
    const traffic = Math.max(inL2, inDram)
    const left = Math.max(1 / traffic, 0.25)
    const ofDram = dram === null ? 1 : Math.min(1, Math.max(left, leastBytes / dram))
    return {
      change: {
        instructions: (1 + left) / 2,
        work: { l2: left, dram: ofDram, l1Data: left, lsu: left },
        waits: { stallLongScoreboard: left, stallLgThrottle: left },
      },
      evidence: [
        message('next.trafficOver', { factor: formatRatio(traffic) }),
        ...counters(facts, 'l2Bytes', 'dramBytes'),
      ],
      burden: ({ globalL2Sectors }) => globalL2Sectors ?? 0,
    }
  },
}

/**
 * Detects a compute-bound task that recomputes results from its first pass. The recomputation
 * executes more operations than required.
 */
function repeated(facts: Facts): Found | null {
  const { session, rung } = facts.side
  const executed = facts.value('fp32Operations')
  const asked =
    session.problem && flops(session.ladder.task, { ...session.problem, flags: rung.flags })
  const tensor = facts.busy.tensor ?? 1
  if (facts.boundBy !== 'operations' || executed === null || !asked || tensor > 0.02) return null
  const ratio = executed / asked
  if (ratio < worthInWork || ratio > 3) return null
  const left = 1 / ratio
  return {
    change: {
      instructions: left,
      work: { fma: left, l1Data: left, lsu: left, l2: left, issue: left },
    },
    evidence: [
      message('next.workOver', { factor: formatRatio(ratio) }),
      ...counters(facts, 'fp32Operations'),
    ],
  }
}
