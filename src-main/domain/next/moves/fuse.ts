/**
 * Fuse kernels that pass results through memory, so that the next kernel does not read them again.
 */
import { message } from '../../messages/message'
import { counters } from '../evidence'
import type { Facts } from '../facts'
import type { Found, Move } from '../move'

/** Minimum remaining fraction of the traffic if many launches are fused into one. */
const least = 0.05
/** Tolerance factor, because L2 counts some bytes twice. */
const slack = 1.2
/**
 * Utilization of DRAM or L2 above which a program's kernel is limited by its inputs and outputs.
 */
const bound = 0.5
/**
 * Remaining fraction of the traffic of a kernel that reads one array and writes one array. Fusion
 * with a neighbor removes either the read or the write.
 */
const withoutOneSide = 0.5
/**
 * Remaining fraction of the instructions after fusion. The arithmetic remains, but the loads or
 * stores of one array and their address computation are removed.
 */
const withoutItsInstructions = 0.9

/** Recommends fusing all kernels of a rung into one. */
function ofRung(facts: Facts): Found | null {
  const { kernels, leastBytes, value } = facts
  if (kernels < 2) return null
  const moved = Math.max(value('dramBytes') ?? 0, value('l2Bytes') ?? 0)
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
}

/** Recommends fusing a program's kernel with the kernel before or after it. */
function ofProgram(facts: Facts): Found | null {
  const { busy, side } = facts
  const kernels = side.session.rungs.length
  const isMemoryBound = Math.max(busy.dram ?? 0, busy.l2 ?? 0) >= bound
  if (kernels < 2 || !isMemoryBound || (busy.tensor ?? 0) > 0.05) return null
  return {
    change: {
      instructions: withoutItsInstructions,
      work: {
        dram: withoutOneSide,
        l2: withoutOneSide,
        l1Data: withoutOneSide,
        lsu: withoutOneSide,
      },
      waits: { stallLongScoreboard: withoutOneSide },
    },
    evidence: [
      message('next.neighbors', { kernels }),
      ...counters(facts, 'dramUtilization', 'l2Utilization'),
    ],
  }
}

export const fuse: Move = {
  id: 'fuse',
  says: message('next.fuse'),
  costs: message('next.fuseCosts'),
  find: (facts) => (facts.side.session.program === undefined ? ofRung(facts) : ofProgram(facts)),
}
