/** Load each tile into shared memory once per block, and reuse its data from there. */
import { formatRatio } from '../../metrics/units'
import type { Move } from '../move'
import { counters, waiting, share } from '../evidence'
import { message } from '../../messages/message'

/** Minimum ratio of L1 traffic to required bytes at which a tile pays off. */
const reuse = 3

export const sharedTile: Move = {
  id: 'shared-tile',
  says: message('next.sharedTile'),
  costs: message('next.sharedTileCosts'),
  find(facts) {
    const { leastBytes, value } = facts
    const l1 = value('l1Bytes')
    const uses = (value('sharedLoads') ?? 0) > 0 || (facts.busy.lsu ?? 0) === 0
    const scattered =
      Math.max(
        value('globalLoadSectorsPerRequest') ?? 0,
        value('globalStoreSectorsPerRequest') ?? 0,
      ) > 17
    const reread = l1 !== null && leastBytes !== null && l1 > reuse * leastBytes
    if (uses || l1 === null || !(reread || scattered)) return null
    const left = leastBytes === null ? 0.25 : Math.max(0.25, (2 * leastBytes) / l1)
    return {
      change: {
        work: { l1Data: left, l2: left, lsu: 0.6 },
        waits: { stallLongScoreboard: 0.1, stallLgThrottle: 0 },
      },
      evidence: [
        ...(leastBytes === null
          ? []
          : [message('next.rereads', { factor: formatRatio(l1 / leastBytes) })]),
        ...counters(facts, 'l1Bytes', 'l1HitRate'),
        ...waiting(facts, 'stallLongScoreboard', 'stallLgThrottle'),
        ...(facts.busy.l1Data === undefined
          ? []
          : [
              message('next.unitBusy', {
                unit: message('unit.l1Data'),
                share: share(facts.busy.l1Data),
              }),
            ]),
      ],
      burden: ({ opcode, globalL1Requests }) =>
        /^LDG\b/.test(opcode) ? (globalL1Requests ?? 0) : 0,
    }
  },
}
