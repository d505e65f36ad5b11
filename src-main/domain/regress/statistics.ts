/**
 * Functions for Student's t distribution and the false discovery rate. Verdicts use these functions
 * to decide whether a mean exceeds a bound.
 */

/**
 * Returns the beta function B(degrees / 2, 1/2). Starts from B(1/2, 1/2) = π and B(1, 1/2) = 2, and
 * applies B(a + 1, b) = B(a, b) · a / (a + b).
 */
function betaOfHalves(degrees: number): number {
  let value = degrees % 2 === 1 ? Math.PI : 2
  for (let a = degrees % 2 === 1 ? 0.5 : 1; a < degrees / 2; a += 1) value *= a / (a + 0.5)
  return value
}

/**
 * Returns the regularized incomplete beta function. Computes the function's power series, in which
 * all terms are positive. `whole` is B(a, b).
 */
function incompleteBeta(a: number, b: number, x: number, whole: number): number {
  // The series converges slowly above the mean, so use the function's symmetry.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x, whole)
  let term = Math.exp(a * Math.log(x) + b * Math.log1p(-x)) / (a * whole)
  let sum = term
  for (let n = 0; term > sum * 1e-17; n += 1) {
    term *= (x * (a + b + n)) / (a + 1 + n)
    sum += term
  }
  return sum
}

/** Returns P(T > t) for Student's t with an integer number of degrees of freedom. */
export function studentTail(t: number, degrees: number): number {
  if (t === Infinity) return 0
  const x = degrees / (degrees + t * t)
  const tail = incompleteBeta(degrees / 2, 0.5, x, betaOfHalves(degrees)) / 2
  return t >= 0 ? tail : 1 - tail
}

/** Returns the value t for which P(T > t) = `tail`. `tail` must be below one half. */
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

/** Returns the standard error of the mean. */
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

/** Returns the t-based confidence interval of the mean. The list must have at least two values. */
export function meanInterval(values: readonly number[], confidence: number): MeanInterval {
  const center = mean(values)
  const critical = studentCritical((1 - confidence) / 2, values.length - 1)
  const reach = critical * standardError(values)
  return { mean: center, low: center - reach, high: center + reach }
}

/** Returns the two-sided p-value of the hypothesis that the true mean is within ±bound. */
export function pBeyond(values: readonly number[], bound: number): number {
  const excess = Math.abs(mean(values)) - bound
  const error = standardError(values)
  if (error === 0) return excess > 0 ? 0 : 1
  return Math.min(1, 2 * studentTail(excess / error, values.length - 1))
}

/**
 * Returns for each hypothesis whether the Benjamini-Hochberg procedure rejects it. The expected
 * fraction of false rejections is at most `share`.
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
