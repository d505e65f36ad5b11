/**
 * The class of a prediction, and its range: a factor by class that contains nine of ten recorded times (`npm run
 * prediction`, cross-validated by ladder).
 */
import type { PredictedLaunch, Prediction, PredictionClass, PredictionWarning } from './prediction'

/** The same factor applies upward and downward. */
const factors: Readonly<Record<PredictionClass, number>> = {
  compute: 1.15,
  memory: 1.3,
  latency: 1.4,
  tensor: 1.3,
  pipeline: 1.25,
  atomics: 2.5,
  tiny: 1.25,
}

/** Additional factor for each warning. */
const widening: Readonly<Record<PredictionWarning, number>> = {
  'uneven-blocks': 1.2,
  'data-dependent': 1.4,
  'near-cache-size': 1.15,
  atomics: 1.3,
  'not-validated': 1.3,
}

/** A shorter launch is mostly overhead; in µs. */
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
