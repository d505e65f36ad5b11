/** Confidence intervals of times from their samples, and of the ratio of two times. */

/** A closed interval. */
export interface Interval {
  low: number
  high: number
}

/** The fewest samples for which the median has a distribution-free 95 % confidence interval. */
export const fewestSamples = 6

/** Interpolates between the two nearest samples, as the runner does for medians and quartiles. */
export function quantile(sorted: readonly number[], share: number): number {
  const position = share * (sorted.length - 1)
  const low = Math.floor(position)
  const high = Math.min(low + 1, sorted.length - 1)
  return sorted[low]! + (position - low) * (sorted[high]! - sorted[low]!)
}

export const ascending = (samples: readonly number[]): number[] =>
  [...samples].sort((a, b) => a - b)

/**
 * The most samples that may lie outside the interval at each end: the number of samples below the true
 * median is binomial, and the probability of this many or fewer is at most 2.5 %. −1 if there is no such number.
 */
function outside(count: number): number {
  // As a logarithm, because the probability of a single outcome can be below the smallest double.
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
 * clocks and temperature drift while samples are taken, so many samples carry less information than their
 * number suggests. Null below six samples, which have no such interval.
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

/** The range of b / a when each is within its interval. */
export const ratioInterval = (a: Interval, b: Interval): Interval => ({
  low: b.low / a.high,
  high: b.high / a.low,
})
