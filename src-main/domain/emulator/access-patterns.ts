/**
 * Caches the costs of memory accesses by access pattern.
 *
 * Shifting all addresses by one period does not change the cost. A pattern therefore contains the
 * first address modulo the period, and each lane's distance from the first address.
 */
import { lanes, noCost, type Cost } from './site'

interface Pattern {
  mask: number
  start: number
  distances: Int32Array
  cost: Cost
}

/**
 * Returns the period, in bytes, at which an access's cost repeats. Shifting all addresses by one
 * period does not change the cost. The period is one word for shared memory and one line for global
 * memory. For accesses that bypass L1, the period is one line in both memory spaces.
 */
export const periodOf = (space: 'global' | 'shared', bypass = false): number =>
  space === 'shared' && !bypass ? 4 : 128

/**
 * Maximum number of cached patterns per instruction. The cost of an uncached pattern is recomputed
 * on each access.
 */
const most = 64

const lowest = (mask: number): number => 31 - Math.clz32(mask & -mask)

/** Returns an instruction's cost cache. On a cache miss, the cache calls `compute`. */
export function patternsOf(
  periods: readonly [number, number?],
  compute: (mask: number, addresses: Int32Array, second: Int32Array | null) => Cost,
): (mask: number, addresses: Int32Array, second?: Int32Array) => Cost {
  const patterns: Pattern[] = []
  const matches = (
    pattern: Pattern,
    mask: number,
    starts: [number, number],
    addresses: Int32Array,
    second: Int32Array | undefined,
  ): boolean => {
    if (pattern.mask !== mask || pattern.start !== startOf(starts)) return false
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const lane = lowest(rest)
      if (pattern.distances[lane] !== addresses[lane]! - starts[0]) return false
      if (second && pattern.distances[lanes + lane] !== second[lane]! - starts[1]) return false
    }
    return true
  }
  const [period, secondPeriod = period] = periods
  const startOf = ([a, b]: [number, number]): number =>
    (a & (period - 1)) * 65536 + (b & (secondPeriod - 1))
  return (mask, addresses, second) => {
    if (mask === 0) return noCost
    const first = lowest(mask)
    const starts: [number, number] = [addresses[first]!, second ? second[first]! : 0]
    for (let place = 0; place < patterns.length; place++) {
      const pattern = patterns[place]!
      if (!matches(pattern, mask, starts, addresses, second)) continue
      if (place > 0) {
        patterns[place] = patterns[place - 1]!
        patterns[place - 1] = pattern
      }
      return pattern.cost
    }
    const cost = compute(mask, addresses, second ?? null)
    const distances = new Int32Array(2 * lanes)
    for (let lane = 0; lane < lanes; lane++) {
      distances[lane] = addresses[lane]! - starts[0]
      if (second) distances[lanes + lane] = second[lane]! - starts[1]
    }
    if (patterns.length === most) patterns.pop()
    patterns.push({ mask, start: startOf(starts), distances, cost })
    return cost
  }
}
