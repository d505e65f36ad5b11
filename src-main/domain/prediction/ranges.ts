/**
 * The class of a prediction and its range. The class alone decides on a factor, of which nine of ten recorded times were
 * inside; `npm run prediction` cross-validates it by ladder.
 */
import type { PredictedLaunch, Prediction, PredictionClass, PredictionWarning } from './prediction'
import { rangeFactors } from './range-factors'

/** Each warning multiplies the factor of the class. */
const widening: Readonly<Record<PredictionWarning, number>> = {
  'uneven-blocks': 1.2,
  'data-dependent': 1.4,
  'near-cache-size': 1.15,
  atomics: 1.3,
  'not-validated': 1.3,
}

/** Below this a launch is mostly overhead, µs. */
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

/** The factor by which the warnings widen a range. */
export const wideningOf = (warnings: readonly PredictionWarning[]): number =>
  warnings.reduce((product, warning) => product * widening[warning], 1)

/** The factor up and down that bounds the range of a prediction. */
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
