/**
 * Access global memory 16 bytes at a time. Wide accesses need a quarter of the instructions and
 * keep more bytes in flight per warp.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'
import { stagesAsynchronously } from '../machine-code-signs'

/** Maximum sectors per request for accesses of at most 4 bytes per lane. */
const narrow = 4.6
/** Sectors per request for a warp load with 16 bytes per lane. */
const sectorsOfFull = 16

export const vectorize: Move = {
  id: 'vectorize',
  says: message('next.vectorize'),
  costs: message('next.vectorizeCosts'),
  find(facts) {
    const loads = facts.value('globalLoadSectorsPerRequest') ?? 0
    const stores = facts.value('globalStoreSectorsPerRequest') ?? 0
    const ofLoads = loads > 0 && loads <= narrow
    const ofStores = stores > 1.5 && stores <= narrow
    const scalarStores = stores > 17
    const staged = facts.boundBy === 'operations' && stagesAsynchronously(facts)
    if (facts.busy.dram === undefined || staged || !(ofLoads || ofStores || scalarStores))
      return null
    const memory = (facts.value('memoryShare') ?? 0) / 100
    const narrower = Math.min(0.25, (ofLoads ? loads : sectorsOfFull) / sectorsOfFull)
    const saved = (1 - narrower) * memory + 0.4 * ((facts.value('integerShare') ?? 0) / 100)
    return {
      change: {
        instructions: 1 - saved,
        work: { lsu: narrower, l1Data: 0.5, l2: 0.95 },
        waits: {
          stallLongScoreboard: 0.25,
          stallLgThrottle: 0,
          stallMioThrottle: 0.25,
          stallShortScoreboard: 0.5,
          stallBarrier: 0.5,
        },
      },
      evidence: [
        ...counters(
          facts,
          ...(ofLoads ? ['globalLoadSectorsPerRequest'] : []),
          ...(ofStores || scalarStores ? ['globalStoreSectorsPerRequest'] : []),
          'memoryShare',
        ),
        ...waiting(facts, 'stallLongScoreboard'),
      ],
      burden: ({ opcode, executed }) =>
        /^(LDG|STG)\b/.test(opcode) && !opcode.includes('.128') ? (executed ?? 0) : 0,
    }
  },
}
