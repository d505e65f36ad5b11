/**
 * The patterns of addresses that an instruction has had, in the launch's tables: their layout, how compiled code finds
 * one, and how a new one is added.
 */
import { Code, scalar } from './wasm'
import { lanes, type Cost } from './site'

export const rowBytes = 4 * lanes

const ways = 32

/** Before the ways of an instruction: for each of its two addresses the lowest one and how far it may go. */
export const boundsBytes = 16

/** Of a way: its start, its shape, how often it was met (8 bytes), and for each address the least and the largest distance. */
export const [shapeAt, timesAt, reachAt, wayHeader] = [4, 8, 16, 32]

/** Patterns whose values lie together: all lanes at one address, or one behind the other. */
export const shapes = { any: 0, same: 1, contiguous: 2 } as const

export const wayBytes = wayHeader + 2 * rowBytes

export const siteBytes = boundsBytes + ways * wayBytes

export interface FastPattern {
  /** The spaces of its addresses, the one whose pattern repeats first. */
  spaces: readonly ('global' | 'shared')[]
  /** By how much each may move and cost the same. */
  periods: readonly number[]
  bytes: number
}

/** The lanes whose distance from the first one tells patterns apart quickly. */
const telling = [1, 8, 31]

/** Pushes the number of the way that a pattern belongs in, from what is different by lane and the first address. */
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

/** The same by JavaScript. */
function hashOf(periods: readonly number[], addresses: readonly Int32Array[]): number {
  let hash = 0
  for (const [place, row] of addresses.entries()) {
    for (const lane of telling) hash ^= row[lane]! - row[0]!
    hash = (hash + (row[0]! & (periods[place]! - 1))) | 0
  }
  return Math.imul(hash, 0x9e3779b1) >>> 27
}

/** Where in a line each address begins, as one number above 0. */
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
  /** Costs of the patterns in use, by way. */
  readonly costs: (Cost | undefined)[]
}

/** Keeps the pattern of an access that its step has done; gives back the pattern whose place it takes, with its count. */
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

/** Counts of all patterns of an instruction that are still open. */
export const takeCounts = (
  words: Int32Array,
  site: FastSite,
): readonly { cost: Cost; times: number }[] =>
  site.costs.flatMap((_, way) => takeCount(words, site, way) ?? [])

/** The lowest address that an access of the instruction may have, and the highest above it. */
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
