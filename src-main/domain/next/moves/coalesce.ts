/**
 * Coalesce accesses: let adjacent lanes access adjacent elements, so that each request uses the
 * minimum number of sectors.
 */
import { message } from '../../messages/message'
import type { Move } from '../move'
import { counters, waiting } from '../evidence'
import type { Facts } from '../facts'

/**
 * Sectors per request if each lane accesses 16 contiguous bytes. A higher value means that the
 * accesses are scattered, whatever their width.
 */
const widest = 16
/** Sectors per request for contiguous 4-byte accesses. */
const sideBySide = 4
/**
 * Ideal sectors per request at a high L1 hit rate. At a high hit rate, half of the loads are
 * assumed to broadcast one sector.
 */
const withBroadcasts = 2
/** L1 hit rate in percent above which lanes reuse sectors that other lanes loaded. */
const rereads = 60

export const coalesce: Move = {
  id: 'coalesce',
  says: message('next.coalesce'),
  costs: message('next.coalesceCosts'),
  find(facts) {
    const loads = facts.value('globalLoadSectorsPerRequest') ?? 0
    const stores = facts.value('globalStoreSectorsPerRequest') ?? 0
    const hit = facts.value('l1HitRate') ?? 0
    const scatteredLoads =
      loads > widest + 1 || (loads > sideBySide + 1 && loads !== widest && hit > rereads)
    const scatteredStores = stores > widest + 1
    const excess = shareOfExcess(facts.code)
    const most = Math.max(scatteredLoads ? loads : 0, scatteredStores ? stores : 0)
    if ((facts.busy.tensor ?? 0) > 0.05 && most < 20) return null
    if (!scatteredLoads && !scatteredStores && excess < 0.1) return null
    const ideal = hit > 95 ? withBroadcasts : sideBySide
    const left = most > 0 ? ideal / most : 1 - excess
    const reach = scatteredLoads || scatteredStores ? reachOf(facts, loads, stores, ideal) : left
    return {
      change: {
        removes: 'sectors',
        work: {
          // L1 needs one pass per cache line of a request. If the lanes' addresses are far apart,
          // L1 needs one pass per sector.
          l1Data: scatteredLoads ? 1 / most : reach,
          l2: reach,
          dram: Math.max(left, leastTraffic(facts)),
        },
        waits: { stallLongScoreboard: left, stallLgThrottle: 0, stallMioThrottle: left },
      },
      evidence: [
        ...counters(
          facts,
          ...(scatteredLoads ? ['globalLoadSectorsPerRequest'] : []),
          ...(scatteredStores ? ['globalStoreSectorsPerRequest'] : []),
        ),
        ...waiting(facts, 'stallLgThrottle', 'stallLongScoreboard'),
      ],
      burden: ({ globalL2SectorsExcess }) => globalL2SectorsExcess ?? 0,
    }
  },
}

/**
 * Returns the fraction of the traffic that remains after coalescing. Stores have the same weight as
 * loads only in a memory-bound task, because other tasks store few results.
 */
function reachOf({ boundBy }: Facts, loads: number, stores: number, ideal: number): number {
  const after = Math.min(loads, ideal) + Math.min(stores, ideal)
  if (boundBy === 'bytes') return after / (loads + stores)
  return loads > widest ? ideal / loads : 0.9
}

/** Returns the fraction of requested sectors in excess of the ideal count. */
function shareOfExcess(code: Parameters<typeof sum>[0]): number {
  const all = sum(code, 'globalL2Sectors')
  return all > 0 ? sum(code, 'globalL2SectorsExcess') / all : 0
}

const sum = (
  code: readonly { globalL2Sectors: number | null; globalL2SectorsExcess: number | null }[],
  of: 'globalL2Sectors' | 'globalL2SectorsExcess',
): number => code.reduce((total, { [of]: value }) => total + (value ?? 0), 0)

/**
 * Returns the minimum fraction of the DRAM traffic that remains after coalescing. The traffic
 * cannot drop below the bytes that the task must move.
 */
function leastTraffic({ leastBytes, value }: Facts): number {
  const now = value('dramBytes')
  return leastBytes === null || now === null || now <= 0 ? 0 : Math.min(1, leastBytes / now)
}
