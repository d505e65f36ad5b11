/** Student's t and false discovery rate, to decide whether a mean differs from zero by a bound. */

/** ln Γ(x) for x > 0, by Lanczos's approximation; accurate to about 15 digits. */
function lnGamma(x: number): number {
  const coefficients = [
    676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406,
    12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
  ]
  const base = x + coefficients.length - 1.5
  const sum = coefficients.reduce(
    (total, coefficient, index) => total + coefficient / (x + index),
    0.9999999999998099,
  )
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum)
}

/** The regularized incomplete beta function, by its continued fraction (Lentz). */
function incompleteBeta(a: number, b: number, x: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  // The fraction converges fast on this side of the mean only.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x)
  const front = Math.exp(
    lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  )
  const away = (value: number): number => (Math.abs(value) < 1e-300 ? 1e-300 : value)
  let c = 1
  let d = 1 / away(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= 500; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / away(1 + even * d)
    c = away(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / away(1 + odd * d)
    c = away(1 + odd / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < 1e-14) break
  }
  return (front * fraction) / a
}

/** P(T > t) for Student's t. */
export function studentTail(t: number, degrees: number): number {
  if (t === Infinity) return 0
  const tail = incompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2
  return t >= 0 ? tail : 1 - tail
}

/** The t with P(T > t) = `tail`, for a tail below one half. */
export function studentCritical(tail: number, degrees: number): number {
  let [low, high] = [0, 1]
  while (studentTail(high, degrees) > tail) high *= 2
  for (let step = 0; step < 200 && high - low > 1e-12 * high; step += 1) {
    const middle = (low + high) / 2
    if (studentTail(middle, degrees) > tail) low = middle
    else high = middle
  }
  return (low + high) / 2
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** The standard error of the mean. */
function standardError(values: readonly number[]): number {
  const center = mean(values)
  const squares = values.reduce((sum, value) => sum + (value - center) ** 2, 0)
  return Math.sqrt(squares / (values.length - 1) / values.length)
}

interface MeanInterval {
  mean: number
  low: number
  high: number
}

/** The t interval of the mean; needs two values. */
export function meanInterval(values: readonly number[], confidence: number): MeanInterval {
  const center = mean(values)
  const critical = studentCritical((1 - confidence) / 2, values.length - 1)
  const reach = critical * standardError(values)
  return { mean: center, low: center - reach, high: center + reach }
}

/** The two-sided p value of "the true mean lies within ±bound". */
export function pBeyond(values: readonly number[], bound: number): number {
  const excess = Math.abs(mean(values)) - bound
  const error = standardError(values)
  if (error === 0) return excess > 0 ? 0 : 1
  return Math.min(1, 2 * studentTail(excess / error, values.length - 1))
}

/**
 * Which hypotheses Benjamini and Hochberg's procedure rejects, so that the expected share of false ones among the
 * rejected is at most `share`.
 */
export function rejected(pValues: readonly number[], share: number): boolean[] {
  const sorted = [...pValues].sort((a, b) => a - b)
  const last = sorted.findLastIndex((p, index) => p <= ((index + 1) / sorted.length) * share)
  return pValues.map((p) => last >= 0 && p <= sorted[last]!)
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length / 2
  return sorted.length % 2 === 1
    ? sorted[Math.floor(half)]!
    : (sorted[half - 1]! + sorted[half]!) / 2
}
