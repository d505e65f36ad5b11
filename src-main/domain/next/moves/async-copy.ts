/** Use cp.async or TMA to copy tiles into shared memory several stages ahead. */
import type { Move } from '../move'
import { waiting, counters } from '../evidence'
import { message } from '../../messages/message'
import { stagesAsynchronously, usesCopyEngine } from '../machine-code-signs'

export const asyncCopy: Move = {
  id: 'async-copy',
  says: message('next.asyncCopy'),
  costs: message('next.asyncCopyCosts'),
  find(facts) {
    const { value, waits } = facts
    const capability = Number(facts.side.session.device?.computeCapability ?? 0)
    const hasTiles = (value('sharedLoads') ?? 0) > 0 || (facts.busy.tensor ?? 0) > 0.05
    const most =
      capability >= 9
        ? usesCopyEngine(facts) && !storesByThreads(facts)
        : stagesAsynchronously(facts)
    const onTensor = (facts.busy.tensor ?? 0) > 0.05
    if (waits === null || capability < 8 || !hasTiles || most) return null
    // Without tensor cores, register prefetching and coalescing are better first steps.
    const early =
      facts.boundBy === 'bytes' ? (facts.busy.dram ?? 0) < 0.5 : waits.stallLongScoreboard > 0.05
    if (!onTensor && early) return null
    return {
      change: {
        instructions: onTensor ? 0.6 : 0.95,
        work: { lsu: 0.5, l1Data: 0.8, l2: 0.85 },
        waits: {
          stallLongScoreboard: 0.1,
          stallShortScoreboard: 0.5,
          stallBarrier: 0.3,
          stallMioThrottle: 0.2,
          stallLgThrottle: 0,
          stallNotSelected: 0.9,
          stallWait: 0.7,
        },
      },
      evidence: [
        message(stagesAsynchronously(facts) ? 'next.onlyCpAsync' : 'next.throughRegisters'),
        ...waiting(facts, 'stallLongScoreboard', 'stallBarrier', 'stallShortScoreboard'),
        ...counters(facts, 'lsuUtilization'),
      ],
      burden: ({ opcode, stalls }) =>
        /^(LDG|STS|BAR)/.test(opcode) ? 1 + (stalls?.long_sb ?? 0) : 0,
    }
  },
}

/**
 * Returns whether threads store results in the order of their registers. Each store instruction
 * then writes eight sectors, but only half of each sector.
 */
const storesByThreads = ({ value }: Parameters<Move['find']>[0]): boolean => {
  const sectors = value('globalStoreSectorsPerRequest') ?? 0
  return sectors >= 6 && sectors < 12
}
