/**
 * The class and the range of a prediction. Each class has a factor that sets the width of the
 * range. With these factors, nine out of ten recorded times were within the range.
 * `npm run prediction` cross-validates the factors by ladder.
 */
import type { PredictedLaunch, Prediction, PredictionClass, PredictionWarning } from './prediction'
import { rangeFactors } from './range-factors'

/** Factor by which each warning multiplies the class's factor. */
const widening: Readonly<Record<PredictionWarning, number>> = {
  'uneven-blocks': 1.2,
  'data-dependent': 1.4,
  'near-cache-size': 1.15,
  atomics: 1.3,
  'not-validated': 1.3,
}

/** Time in µs below which a launch is mostly overhead. */
const tinyUs = 10

export function classOf(launches: readonly PredictedLaunch[]): PredictionClass {
  const longest = launches.reduce((a, b) => (b.ms > a.ms ? b : a))
  const { utilization, limiter, ms } = longest
  if (limiter === 'atomics') return 'atomics'
  if (ms * 1000 < tinyUs) return 'tiny'
  if ((utilization.tensor ?? 0) > 0.2) return 'tensor'
  if (limiter === 'dram' || limiter === 'l2') return 'memory'
  if (limiter === 'latency' || limiter === 'barrier' || limiter === 'launch') return 'latency'
  return 'compute'
}

/** Returns the factor by which the warnings widen a range. */
export const wideningOf = (warnings: readonly PredictionWarning[]): number =>
  warnings.reduce((product, warning) => product * widening[warning], 1)

/** Returns the factor between a prediction and the bounds of its range. */
export const widthOf = (
  predictionClass: PredictionClass,
  warnings: readonly PredictionWarning[],
): number => rangeFactors[predictionClass] * wideningOf(warnings)

export function rangeOf(
  ms: number,
  predictionClass: PredictionClass,
  warnings: readonly PredictionWarning[],
): Pick<Prediction, 'lowMs' | 'highMs'> {
  const width = widthOf(predictionClass, warnings)
  return { lowMs: ms / width, highMs: ms * width }
}
