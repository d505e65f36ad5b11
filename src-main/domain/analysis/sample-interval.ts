/** What is known of a time from its samples, and of how two times compare. Pure. */

/** Both ends belong to it. */
export interface Interval {
  low: number
  high: number
}

/** The fewest samples whose median has an interval at 95 % that assumes nothing of their distribution. */
export const fewestSamples = 6

/** Between the two samples nearest to it, as the runner takes its medians and quartiles. */
export function quantile(sorted: readonly number[], share: number): number {
  const position = share * (sorted.length - 1)
  const low = Math.floor(position)
  const high = Math.min(low + 1, sorted.length - 1)
  return sorted[low]! + (position - low) * (sorted[high]! - sorted[low]!)
}

export const ascending = (samples: readonly number[]): number[] =>
  [...samples].sort((a, b) => a - b)

/**
 * How many samples lie outside the interval at each end, at most: the number of samples below the true
 * median is binomial, and of this many or fewer the probability is within 2.5 %. −1 where there is none.
 */
function outside(count: number): number {
  // As a logarithm: the probability of one outcome of many is below the smallest number.
  let outcome = count * Math.log(0.5)
  let cumulative = Math.exp(outcome)
  let below = -1
  while (cumulative <= 0.025) {
    below += 1
    outcome += Math.log((count - below) / (below + 1))
    cumulative += Math.exp(outcome)
  }
  return below
}

/**
 * The 95 % confidence interval of the median, between two order statistics, widened to the quartiles:
 * clocks and temperature drift while samples are taken, so that many samples know less than their number
 * says. Null below six samples, which have no such interval.
 */
export function medianInterval(samples: readonly number[]): Interval | null {
  if (samples.length < fewestSamples) return null
  const sorted = ascending(samples)
  const rank = outside(sorted.length)
  return {
    low: Math.min(sorted[rank]!, quantile(sorted, 0.25)),
    high: Math.max(sorted[sorted.length - 1 - rank]!, quantile(sorted, 0.75)),
  }
}

/** Where b over a can lie when each lies in its interval. */
export const ratioInterval = (a: Interval, b: Interval): Interval => ({
  low: b.low / a.high,
  high: b.high / a.low,
})
