/**
 * An instruction's table of cached address patterns: layout, lookup in compiled code, and
 * insertion.
 */
import { Code, scalar } from './wasm'
import { lanes, type Cost } from './site'

export const rowBytes = 4 * lanes

const ways = 32

/**
 * Size in bytes of the bounds that precede an instruction's cache ways. For each of two addresses,
 * the bounds contain the lowest address and the size of the allowed range.
 */
export const boundsBytes = 16

/**
 * Byte offsets of a cache way's fields. Each cache way stores one access pattern. The fields are
 * the start, the shape, the hit count (8 bytes), and the smallest and largest distance for each
 * address.
 */
export const [shapeAt, timesAt, reachAt, wayHeader] = [4, 8, 16, 32]

/**
 * Possible pattern shapes: all lanes use the same address, the lanes' addresses are contiguous, or
 * neither applies.
 */
export const shapes = { any: 0, same: 1, contiguous: 2 } as const

export const wayBytes = wayHeader + 2 * rowBytes

export const siteBytes = boundsBytes + ways * wayBytes

export interface FastPattern {
  /** Memory space of each address. The first address determines the pattern's shape. */
  spaces: readonly ('global' | 'shared')[]
  /** Period of each address. Shifting an address by its period does not change the cost. */
  periods: readonly number[]
  bytes: number
}

/**
 * Lanes whose address distances from the first lane are hashed. Different access patterns usually
 * have different distances at these lanes.
 */
const telling = [1, 8, 31]

/**
 * Emits code that pushes a pattern's way index. The index is a hash of the lane distances and the
 * first address.
 */
export function pushHash(
  code: Code,
  periods: readonly number[],
  register: (place: number, lane: number) => void,
  first: (place: number) => void,
): void {
  code.constant(0)
  for (const [place, period] of periods.entries()) {
    for (const lane of telling) {
      register(place, lane)
      register(place, 0)
      code.op(scalar.sub, scalar.xor)
    }
    first(place)
    code.constant(period - 1)
    code.op(scalar.and, scalar.add)
  }
  code.constant(0x9e3779b1 | 0)
  code.op(scalar.mul)
  code.constant(27)
  code.op(scalar.shrUnsigned)
}

/** Returns a pattern's way index. The hash is the same as in the compiled code. */
function hashOf(periods: readonly number[], addresses: readonly Int32Array[]): number {
  let hash = 0
  for (const [place, row] of addresses.entries()) {
    for (const lane of telling) hash ^= row[lane]! - row[0]!
    hash = (hash + (row[0]! & (periods[place]! - 1))) | 0
  }
  return Math.imul(hash, 0x9e3779b1) >>> 27
}

/** Emits code that pushes each address modulo its period, packed into one positive number. */
export function pushStart(
  code: Code,
  periods: readonly number[],
  first: (place: number) => void,
): void {
  code.constant(1)
  for (const [place, period] of periods.entries()) {
    code.constant(8)
    code.op(scalar.shl)
    first(place)
    code.constant(period - 1)
    code.op(scalar.and, scalar.or)
  }
}

const startOf = (periods: readonly number[], addresses: readonly Int32Array[]): number =>
  addresses.reduce((start, row, place) => (start << 8) | (row[0]! & (periods[place]! - 1)), 1)

export interface FastSite {
  readonly pattern: FastPattern
  readonly address: number
  /** Costs of the cached patterns, indexed by way. */
  readonly costs: (Cost | undefined)[]
}

/** Stores an interpreted access's pattern. Returns the evicted pattern and its hit count. */
export function keepPattern(
  words: Int32Array,
  site: FastSite,
  addresses: readonly Int32Array[],
  cost: Cost,
): { cost: Cost; times: number } | null {
  const { periods } = site.pattern
  const way = hashOf(periods, addresses)
  const at = (site.address + boundsBytes + way * wayBytes) / 4
  const before = takeCount(words, site, way)
  words[at] = startOf(periods, addresses)
  for (const [place, row] of addresses.entries()) {
    const distancesAt = at + wayHeader / 4 + place * lanes
    let [least, most] = [0, 0]
    let [same, contiguous] = [true, true]
    for (let lane = 0; lane < lanes; lane++) {
      const distance = (row[lane]! - row[0]!) | 0
      words[distancesAt + lane] = distance
      if (distance < least) least = distance
      if (distance > most) most = distance
      if (distance !== 0) same = false
      if (distance !== site.pattern.bytes * lane) contiguous = false
    }
    words[at + reachAt / 4 + 2 * place] = least
    words[at + reachAt / 4 + 2 * place + 1] = most
    if (place === 0)
      words[at + shapeAt / 4] = same ? shapes.same : contiguous ? shapes.contiguous : shapes.any
  }
  site.costs[way] = cost
  return before
}

function takeCount(
  words: Int32Array,
  site: FastSite,
  way: number,
): { cost: Cost; times: number } | null {
  const cost = site.costs[way]
  if (!cost) return null
  const at = (site.address + boundsBytes + way * wayBytes + timesAt) / 4
  const times = (words[at]! >>> 0) + (words[at + 1]! >>> 0) * 2 ** 32
  words[at] = 0
  words[at + 1] = 0
  return { cost, times }
}

/** Returns and resets the hit counts of an instruction's cached patterns. */
export const takeCounts = (
  words: Int32Array,
  site: FastSite,
): readonly { cost: Cost; times: number }[] =>
  site.costs.flatMap((_, way) => takeCount(words, site, way) ?? [])

/** Stores the instruction's lowest allowed address and the size of its allowed range. */
export function setBounds(
  words: Int32Array,
  site: FastSite,
  place: number,
  low: number,
  bytes: number,
): void {
  words[site.address / 4 + 2 * place] = low
  words[site.address / 4 + 2 * place + 1] = bytes - site.pattern.bytes
}
