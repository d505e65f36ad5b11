/**
 * What one memory instruction of a warp costs: wavefronts of shared memory, and the sectors and tags of global memory.
 * The rules are those of compute capability 9.0 as ncu's source counters state them (`memory_l1_wavefronts_shared`,
 * `memory_l1_tag_requests_global`, `memory_l2_theoretical_sectors_global` and their ideals), and `sharedPasses` as the
 * hardware counters do; 1,404 accesses that were measured one by one are in the tests.
 *
 * Addresses are byte addresses by lane; those of lanes outside the mask are not looked at.
 */
import { warpSize } from '../gpu/sm-limits'

const wordBytes = 4
const banks = 32
/** What one wavefront moves. */
const wavefrontBytes = banks * wordBytes
const sectorBytes = 32
const lineBytes = 128
/** A row of an 8 x 8 matrix of 16-bit elements, which one lane's address names. */
const matrixRowBytes = 16
const lanesPerMatrix = 8

interface SharedCost {
  wavefronts: number
  /** What as many lanes of this width take without conflicts, or less where lanes share what they read. */
  ideal: number
}

interface GlobalCost {
  /** Distinct 32-byte sectors. */
  sectors: number
  /** What as many lanes of this width fill, or less where lanes share what they access. */
  ideal: number
  /** Distinct 128-byte lines. */
  tags: number
}

type Addresses = ArrayLike<number>

const bitsOf = (mask: number): number => {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

/** Lanes of `mask` among `count` lanes from `first` on. */
const part = (mask: number, first: number, count: number): number =>
  mask & (count === warpSize ? -1 : ((1 << count) - 1) << first)

function lanesOf(mask: number): number[] {
  const lanes = []
  for (let lane = 0; lane < warpSize; lane++) if ((mask >>> lane) & 1) lanes.push(lane)
  return lanes
}

/** Words by bank; `once` counts a word that several lanes name once, as a broadcast does. */
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

/** Lanes of an access that one wavefront can serve: all of them up to 4 bytes a lane, half of them with 8, a quarter with 16. */
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
 * Whether every lane reads what its neighbor at distance 1 reads, or every lane what the one at distance 2 does.
 * A 16-byte load also wants its pairs all alike: both lanes on in each, or one lane on in each.
 */
function readInPairs(bytes: number, mask: number, addresses: Addresses): boolean {
  const lanes = lanesOf(mask)
  return [1, 2].some((distance) => {
    const paired = lanes.filter((lane) => (mask >>> (lane ^ distance)) & 1)
    if (bytes === 16 && paired.length > 0 && paired.length < lanes.length) return false
    return paired.every((lane) => addresses[lane] === addresses[lane ^ distance])
  })
}

/** Loads of 8 and 16 bytes: two neighboring parts of the warp share a wavefront where their lanes read in pairs and no bank holds two of their words. */
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

/** LDS and STS of 1 to 16 bytes a lane, and ATOMS, which is paid lane by lane where lanes share an address. */
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
 * What the hardware counters of shared memory state of LDS and STS: wavefronts, and those that conflicts add
 * (`l1tex__data_pipe_lsu_wavefronts…`, `l1tex__data_bank_conflicts…`). Lanes go in groups that one wavefront could serve,
 * twice as many in a load of 8 or 16 bytes where every lane of the warp reads what its neighbor at one distance does. Each
 * group costs what its busiest bank does.
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

/** Whether every lane that has its neighbor at distance 1 beside it reads the same, or every one at distance 2. */
const sharesInPairs = (mask: number, addresses: Addresses): boolean =>
  [1, 2].some((distance) =>
    lanesOf(mask).every(
      (lane) =>
        ((mask >>> (lane ^ distance)) & 1) === 0 || addresses[lane] === addresses[lane ^ distance],
    ),
  )

/** Sectors of shared memory that a copy past L1 fills, which is what the counter of L1's sectors states of it. */
export const sectorsFilled = (mask: number, shared: Addresses): number =>
  new Set(lanesOf(mask).map((lane) => Math.floor(shared[lane]! / sectorBytes))).size

/** LDSM and STSM: each eight lanes name the rows of one matrix. */
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

/** LDG, STG, ATOMG and RED. */
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
 * LDGSTS of 16 bytes past the first-level cache: sectors go straight from the second level to where they belong. Of
 * the lanes that write one place the first one counts. A wavefront carries the sectors that come from one line and go
 * to one line, move by the same distance within 64 bytes, and fill the same part of a sector.
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
    /** Those that count. */
    lanes: lanes.length,
  }
}

const banksOf = (bytes: number, address: number): number[] =>
  Array.from(
    { length: Math.max(1, bytes / wordBytes) },
    (_, word) => ((address >> 2) + word) & (banks - 1),
  )

/**
 * LDGSTS through the first-level cache, whose lines lie in the banks as shared memory does. Lanes are read in groups in
 * which no two want one bank of the cache, a wavefront each, which also writes what is alone in its bank of shared
 * memory; the rest is written behind them all. Zeros are not read and go with the first group.
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
 * LDGSTS: a copy from global to shared memory; `bypass` where it leaves the first-level cache out. Lanes in `zeros`
 * write zeros in place of what is at their global address, which still says how they are grouped past the cache.
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
