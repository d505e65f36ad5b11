/**
 * What a prediction is like, and how far it may be off: factors by class, of which nine of ten recorded times were
 * inside (`npm run prediction`, cross-validated by ladder).
 */
import type { PredictedLaunch, Prediction, PredictionClass, PredictionWarning } from './prediction'

/** Up and down by the same factor. */
const factors: Readonly<Record<PredictionClass, number>> = {
  compute: 1.15,
  memory: 1.3,
  latency: 1.4,
  tensor: 1.3,
  pipeline: 1.25,
  atomics: 2.5,
  tiny: 1.25,
}

/** Each widens by as much more. */
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

export function rangeOf(
  ms: number,
  predictionClass: PredictionClass,
  warnings: readonly PredictionWarning[],
): Pick<Prediction, 'lowMs' | 'highMs'> {
  const factor = warnings.reduce(
    (product, warning) => product * widening[warning],
    factors[predictionClass],
  )
  return { lowMs: ms / factor, highMs: ms * factor }
}
