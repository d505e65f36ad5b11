/** Fuse kernels that pass results through memory, so that the next kernel need not read them. */
import type { Move } from '../move'
import { counters } from '../evidence'
import { message } from '../../messages/message'

/** Minimum remaining share of the traffic when many launches become one. */
const least = 0.05
/** Tolerance: L2 counts some bytes twice. */
const slack = 1.2

export const fuse: Move = {
  id: 'fuse',
  says: message('next.fuse'),
  costs: message('next.fuseCosts'),
  find(facts) {
    const { kernels, leastBytes, value } = facts
    const dram = value('dramBytes')
    if (kernels < 2 || facts.side.session.program !== undefined) return null
    const moved = Math.max(dram ?? 0, value('l2Bytes') ?? 0)
    const known = leastBytes !== null && moved > 0
    const left = known ? Math.max(least, Math.min(1, (slack * leastBytes) / moved)) : 0.7
    return {
      change: {
        instructions: left,
        work: { dram: left, l2: left, l1Data: left, lsu: left },
        launches: kernels - 1,
      },
      evidence: [message('next.kernels', { kernels }), ...counters(facts, 'dramBytes', 'l2Bytes')],
    }
  },
}
