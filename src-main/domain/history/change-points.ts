/**
 * Finds change points: indices at which a series changes level.
 *
 * The method is E-divisive (Matteson and James). The energy statistic of Székely and Rizzo finds
 * the split with the largest difference between the two sides. A permutation test rejects splits
 * that could be due to chance. The method is deterministic and makes no assumption about the
 * distribution.
 */

/** Minimum number of points at one level. */
export const fewestPoints = 4

const permutations = 199

const significance = 0.01

/**
 * Returns a small random number generator. The seed is the length of the series, so repeated calls
 * return the same result.
 */
function generator(seed: number): () => number {
  let state = seed | 1
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39)
    state ^= state >>> 15
    return (state >>> 0) / 2 ** 32
  }
}

function shuffled(values: readonly number[], random: () => number): number[] {
  const mixed = [...values]
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1))
    ;[mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!]
  }
  return mixed
}

interface Split {
  at: number
  statistic: number
}

/**
 * Returns the best split that leaves enough points on each side. The function computes all distance
 * sums once. The function then moves one point at a time to the left side and updates the sums.
 */
function bestSplit(values: readonly number[]): Split {
  const count = values.length
  const toAll = (of: number, from: number, to: number): number => {
    let sum = 0
    for (let other = from; other < to; other += 1) sum += Math.abs(values[of]! - values[other]!)
    return sum
  }
  let [within, between, beyond] = [0, 0, 0]
  for (let one = 0; one < count; one += 1) beyond += toAll(one, one + 1, count)
  let best: Split = { at: fewestPoints, statistic: -Infinity }
  for (let at = 1; at <= count - fewestPoints; at += 1) {
    const [left, right] = [toAll(at - 1, 0, at - 1), toAll(at - 1, at, count)]
    within += left
    beyond -= right
    between += right - left
    if (at < fewestPoints) continue
    const [m, n] = [at, count - at]
    const energy =
      (2 * between) / (m * n) - (2 * within) / (m * (m - 1)) - (2 * beyond) / (n * (n - 1))
    const statistic = (energy * m * n) / (m + n)
    if (statistic > best.statistic) best = { at, statistic }
  }
  return best
}

function isChance(values: readonly number[], { statistic }: Split): boolean {
  const random = generator(values.length)
  let asGood = 1
  for (let time = 0; time < permutations; time += 1) {
    if (bestSplit(shuffled(values, random)).statistic >= statistic) asGood += 1
    if (asGood / (permutations + 1) > significance) return true
  }
  return false
}

/** Returns the indices at which a new level starts, in ascending order. */
export function changePoints(values: readonly number[]): number[] {
  if (values.length < 2 * fewestPoints) return []
  const split = bestSplit(values)
  if (isChance(values, split)) return []
  return [
    ...changePoints(values.slice(0, split.at)),
    split.at,
    ...changePoints(values.slice(split.at)).map((at) => at + split.at),
  ]
}
