/** Computes confidence intervals for times and time ratios from samples. */

/** A closed interval. */
export interface Interval {
  low: number
  high: number
}

/** Minimum number of samples for a distribution-free 95 % confidence interval of the median. */
export const fewestSamples = 6

/**
 * Returns a quantile, interpolated between the two nearest samples. The runner uses the same method
 * for medians and quartiles.
 */
export function quantile(sorted: readonly number[], share: number): number {
  const position = share * (sorted.length - 1)
  const low = Math.floor(position)
  const high = Math.min(low + 1, sorted.length - 1)
  return sorted[low]! + (position - low) * (sorted[high]! - sorted[low]!)
}

export const ascending = (samples: readonly number[]): number[] =>
  [...samples].sort((a, b) => a - b)

/**
 * Returns the maximum number of samples outside the interval at each end, or −1 if no interval
 * exists. The number of samples below the true median has a binomial distribution. With a
 * probability of at most 2.5 %, no more samples than the returned number are below the true median.
 */
function outside(count: number): number {
  // Use a logarithm, because the probability of a single outcome can be below the smallest double.
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
 * Returns the 95 % confidence interval of the median, or null if there are fewer than six samples.
 * The interval is between two order statistics and is widened to the quartiles. Clocks and
 * temperature drift during sampling, so many samples carry less information than their number
 * suggests.
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

/** Returns the range of b / a for all a and b within their intervals. */
export const ratioInterval = (a: Interval, b: Interval): Interval => ({
  low: b.low / a.high,
  high: b.high / a.low,
})
