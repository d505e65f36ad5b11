/**
 * The class of a prediction and its range. The class determines a factor that included nine of ten
 * recorded times. `npm run prediction` cross-validates the factor by ladder.
 */
import type { PredictedLaunch, Prediction, PredictionClass, PredictionWarning } from './prediction'
import { rangeFactors } from './range-factors'

/** Factors of the warnings. Each one multiplies the factor of the class. */
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

/** Returns the factor for widening a range because of warnings. */
export const wideningOf = (warnings: readonly PredictionWarning[]): number =>
  warnings.reduce((product, warning) => product * widening[warning], 1)

/** Returns the factor up and down that bounds the range of a prediction. */
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
