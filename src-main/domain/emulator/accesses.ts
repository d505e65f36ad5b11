/**
 * Computes the cost of one warp memory instruction. The cost consists of shared-memory wavefronts,
 * and of global-memory sectors and tags.
 *
 * The rules match ncu's source counters on compute capability 9.0: `memory_l1_wavefronts_shared`,
 * `memory_l1_tag_requests_global`, `memory_l2_theoretical_sectors_global` and their ideal values.
 * `sharedPasses` matches the hardware counters. The tests compare the rules with 1,404 individually
 * measured accesses.
 *
 * The functions take one byte address per lane. The functions ignore the addresses of lanes outside
 * the mask.
 */
import { warpSize } from '../gpu/sm-limits'

const wordBytes = 4
const banks = 32
/** Number of bytes that one wavefront transfers. */
const wavefrontBytes = banks * wordBytes
const sectorBytes = 32
const lineBytes = 128
/**
 * Bytes in one row of an 8 x 8 matrix of 16-bit elements. One lane supplies the address of each
 * row.
 */
const matrixRowBytes = 16
const lanesPerMatrix = 8

interface SharedCost {
  wavefronts: number
  /**
   * Number of wavefronts that the bytes of all lanes would need if there were no bank conflicts.
   * The ideal number is capped at `wavefronts`, which is lower if lanes read the same words.
   */
  ideal: number
}

interface GlobalCost {
  /** Number of distinct 32-byte sectors. */
  sectors: number
  /**
   * Minimum number of sectors for the bytes of all lanes. The ideal number is capped at `sectors`,
   * which is lower if lanes access the same bytes.
   */
  ideal: number
  /** Number of distinct 128-byte lines. */
  tags: number
}

type Addresses = ArrayLike<number>

const bitsOf = (mask: number): number => {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

/** Returns the active lanes among the `count` lanes starting at `first`. */
const part = (mask: number, first: number, count: number): number =>
  mask & (count === warpSize ? -1 : ((1 << count) - 1) << first)

function lanesOf(mask: number): number[] {
  const lanes = []
  for (let lane = 0; lane < warpSize; lane++) if ((mask >>> lane) & 1) lanes.push(lane)
  return lanes
}

/**
 * Returns the number of words accessed in the bank with the most words. With `once`, a word that
 * several lanes access is counted once, as in a broadcast.
 */
function busiestBank(bytes: number, mask: number, addresses: Addresses, once: boolean): number {
  const seen = new Set<number>()
  const load = new Uint8Array(banks)
  for (const lane of lanesOf(mask)) {
    const first = Math.floor(addresses[lane]! / wordBytes)
    const last = Math.floor((addresses[lane]! + bytes - 1) / wordBytes)
    for (let word = first; word <= last; word++) {
      if (once && seen.has(word)) continue
      seen.add(word)
      load[word % banks]!++
    }
  }
  return Math.max(...load)
}

/**
 * Returns the number of lanes that one wavefront can serve. One wavefront serves 32 lanes with up
 * to 4 bytes per lane, 16 lanes with 8 bytes, or 8 lanes with 16 bytes.
 */
export const lanesPerWavefront = (bytes: number): number =>
  Math.min(warpSize, wavefrontBytes / bytes)

function inParts(
  count: number,
  mask: number,
  cost: (lanes: number) => number,
  lanes = warpSize,
): number {
  let sum = 0
  for (let first = 0; first < lanes; first += count) sum += cost(part(mask, first, count))
  return sum
}

/**
 * Returns whether each lane reads the same address as its active partner. Partners are 1 lane apart
 * in all pairs, or 2 lanes apart in all pairs. For a 16-byte load, either every lane or no lane may
 * have an active partner.
 */
function readInPairs(bytes: number, mask: number, addresses: Addresses): boolean {
  const lanes = lanesOf(mask)
  return [1, 2].some((distance) => {
    const paired = lanes.filter((lane) => (mask >>> (lane ^ distance)) & 1)
    if (bytes === 16 && paired.length > 0 && paired.length < lanes.length) return false
    return paired.every((lane) => addresses[lane] === addresses[lane ^ distance])
  })
}

/**
 * Returns the wavefronts of an 8- or 16-byte load. Two adjacent parts of the warp share a wavefront
 * if paired lanes read the same address. In addition, all of their loaded words must be in
 * different banks.
 */
function wideLoad(bytes: number, mask: number, addresses: Addresses): number {
  const count = lanesPerWavefront(bytes)
  return inParts(2 * count, mask, (both) => {
    if (both === 0) return 0
    if (readInPairs(bytes, both, addresses) && busiestBank(bytes, both, addresses, true) === 1)
      return 1
    return inParts(count, both, (lanes) => busiestBank(bytes, lanes, addresses, true))
  })
}

const idealWavefronts = (bytes: number, lanes: number): number =>
  Math.ceil((lanes * bytes) / wavefrontBytes)

/**
 * Returns the cost of ATOMS, and of LDS and STS with 1 to 16 bytes per lane. For ATOMS, lanes that
 * share an address are counted as separate accesses.
 */
export function sharedAccess(
  kind: 'load' | 'store' | 'atomic',
  bytes: number,
  mask: number,
  addresses: Addresses,
): SharedCost {
  const wavefronts =
    kind === 'load' && bytes > wordBytes
      ? wideLoad(bytes, mask, addresses)
      : inParts(lanesPerWavefront(bytes), mask, (lanes) =>
          busiestBank(bytes, lanes, addresses, kind !== 'atomic'),
        )
  return {
    wavefronts,
    ideal: Math.min(wavefronts, idealWavefronts(bytes, bitsOf(mask))),
  }
}

/**
 * Returns the values of the shared-memory hardware counters for LDS and STS. The counters are
 * wavefronts (`l1tex__data_pipe_lsu_wavefronts…`) and extra wavefronts due to conflicts
 * (`l1tex__data_bank_conflicts…`).
 *
 * A group is the set of lanes that one wavefront can serve. For 8- or 16-byte loads, the group is
 * twice as large if every lane reads the same address as a neighbor. A group's busiest bank
 * determines the group's cost.
 */
export function sharedPasses(
  kind: 'load' | 'store' | 'atomic',
  bytes: number,
  mask: number,
  addresses: Addresses,
): { passes: number; conflicts: number } {
  const paired = kind === 'load' && bytes > wordBytes && sharesInPairs(mask, addresses)
  const count = (paired ? 2 : 1) * lanesPerWavefront(bytes)
  let [passes, groups] = [0, 0]
  for (let first = 0; first < warpSize; first += count) {
    const group = part(mask, first, count)
    if (group === 0) continue
    passes += busiestBank(bytes, group, addresses, kind !== 'atomic')
    groups++
  }
  return { passes, conflicts: passes - groups }
}

/**
 * Returns whether the lanes of each active pair read the same address. The paired lanes are 1 apart
 * in all pairs, or 2 apart in all pairs.
 */
const sharesInPairs = (mask: number, addresses: Addresses): boolean =>
  [1, 2].some((distance) =>
    lanesOf(mask).every(
      (lane) =>
        ((mask >>> (lane ^ distance)) & 1) === 0 || addresses[lane] === addresses[lane ^ distance],
    ),
  )

/**
 * Returns the number of shared-memory sectors that an L1-bypassing copy fills. For these copies,
 * the L1 sector counter equals this number.
 */
export const sectorsFilled = (mask: number, shared: Addresses): number =>
  new Set(lanesOf(mask).map((lane) => Math.floor(shared[lane]! / sectorBytes))).size

/**
 * Returns the cost of LDSM and STSM. Each group of eight lanes supplies the row addresses of one
 * matrix.
 */
export function sharedMatrices(matrices: number, addresses: Addresses): SharedCost {
  return {
    wavefronts: inParts(
      lanesPerMatrix,
      -1,
      (lanes) => busiestBank(matrixRowBytes, lanes, addresses, true),
      matrices * lanesPerMatrix,
    ),
    ideal: matrices,
  }
}

function distinct(bytes: number, size: number, lanes: number[], addresses: Addresses): number {
  const pieces = new Set<number>()
  for (const lane of lanes) {
    const first = Math.floor(addresses[lane]! / size)
    const last = Math.floor((addresses[lane]! + bytes - 1) / size)
    for (let piece = first; piece <= last; piece++) pieces.add(piece)
  }
  return pieces.size
}

const idealSectors = (bytes: number, lanes: number): number =>
  Math.ceil((lanes * bytes) / sectorBytes)

/** Returns the cost of LDG, STG, ATOMG and RED. */
export function globalAccess(bytes: number, mask: number, addresses: Addresses): GlobalCost {
  const lanes = lanesOf(mask)
  const sectors = distinct(bytes, sectorBytes, lanes, addresses)
  return {
    sectors,
    ideal: Math.min(sectors, idealSectors(bytes, lanes.length)),
    tags: distinct(bytes, lineBytes, lanes, addresses),
  }
}

/**
 * Returns the cost of a 16-byte LDGSTS that bypasses L1 and moves sectors directly from L2 to
 * shared memory. If several lanes write the same address, only the first lane is counted.
 *
 * Sectors share a wavefront if their source line, target line and filled part match. The distance
 * from source to target modulo 64 bytes must also match.
 */
function sectorCopy(mask: number, shared: Addresses, global: Addresses) {
  const bytes = 16
  const writers = new Map<number, number>()
  for (const lane of lanesOf(mask)) {
    if (!writers.has(shared[lane]!)) writers.set(shared[lane]!, lane)
  }
  const lanes = [...writers.values()]
  const sectors = new Map<string, { key: string; filled: number }>()
  for (const lane of lanes) {
    const to = shared[lane]!
    const from = global[lane]!
    const id = `${Math.floor(from / sectorBytes)} ${Math.floor(to / sectorBytes)}`
    const shift = (((to - from) % 64) + 64) % 64
    const key = `${Math.floor(from / lineBytes)} ${Math.floor(to / lineBytes)} ${shift}`
    const sector = sectors.get(id) ?? { key, filled: 0 }
    sector.filled |= 1 << ((to % sectorBytes) / bytes)
    sectors.set(id, sector)
  }
  const groups = new Set([...sectors.values()].map(({ key, filled }) => `${key} ${filled}`))
  return {
    wavefronts: groups.size,
    sectors: sectors.size,
    /** Number of lanes after removing duplicate targets. */
    lanes: lanes.length,
  }
}

const banksOf = (bytes: number, address: number): number[] =>
  Array.from(
    { length: Math.max(1, bytes / wordBytes) },
    (_, word) => ((address >> 2) + word) & (banks - 1),
  )

/**
 * Returns the cost of LDGSTS through L1. L1 stores its lines in the same banks as shared memory.
 *
 * One wavefront serves a group of lanes that have no bank conflicts in L1. The same wavefront
 * writes each lane that has no bank conflict in shared memory. Lanes with bank conflicts
 * write in later wavefronts. Lanes that write zeros read no global data, and belong to the first
 * group.
 */
function cachedCopy(
  bytes: number,
  mask: number,
  zeros: number,
  shared: Addresses,
  global: Addresses,
): number {
  const late = new Uint8Array(banks)
  let groups = 0
  for (let rest = lanesOf(mask); rest.length > 0; groups++) {
    const read = new Set<number>()
    const written = new Uint8Array(banks)
    const next: number[] = []
    for (const lane of rest) {
      const from = (zeros >>> lane) & 1 ? [] : banksOf(bytes, global[lane]!)
      if (from.some((bank) => read.has(bank))) {
        next.push(lane)
        continue
      }
      for (const bank of from) read.add(bank)
      for (const bank of banksOf(bytes, shared[lane]!)) if (written[bank]!++ > 0) late[bank]!++
    }
    rest = next
  }
  return groups + Math.max(...late)
}

/**
 * Returns the cost of LDGSTS, a copy from global to shared memory. With `bypass`, the copy skips
 * L1. Lanes in `zeros` write zeros instead of the data at their global address. If the copy skips
 * L1, the global address still determines which sectors share a wavefront.
 */
export function copyAccess(
  { bytes, bypass }: { bytes: number; bypass: boolean },
  mask: number,
  zeros: number,
  shared: Addresses,
  global: Addresses,
): { shared: SharedCost; global: GlobalCost } {
  const reading = mask & ~zeros
  const ideal = idealWavefronts(bytes, bitsOf(mask))
  const source = globalAccess(bytes, reading, global)
  if (!bypass) {
    const wavefronts = inParts(lanesPerWavefront(bytes), mask, (part) =>
      cachedCopy(bytes, part, zeros, shared, global),
    )
    return { shared: { wavefronts, ideal: Math.min(wavefronts, ideal) }, global: source }
  }
  const { wavefronts, lanes } = sectorCopy(mask, shared, global)
  const read = sectorCopy(reading, shared, global)
  return {
    shared: { wavefronts, ideal: idealWavefronts(bytes, lanes) },
    global: { sectors: read.sectors, ideal: idealSectors(bytes, read.lanes), tags: source.tags },
  }
}
