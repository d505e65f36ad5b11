/**
 * Comparisons of predicted figures. A comparison holds only if it holds over the figures' whole
 * ranges.
 */
import type { MetricValue } from '../metrics/metrics'
import type { RungResult } from '../session/session'

interface Bounds {
  low: number
  high: number
}

/**
 * Returns the range of a figure. The model has no range for rates and stall reasons. Their relative
 * range is assumed to equal the range of the rung's time.
 */
export function boundsOfFigure(
  rung: Pick<RungResult, 'predicted'> | undefined,
  { value, evidence }: MetricValue,
): Bounds {
  const own = value ?? 0
  const time = rung?.predicted
  return evidence === 'predicted' && time
    ? { low: (own * time.lowMs) / time.ms, high: (own * time.highMs) / time.ms }
    : { low: own, high: own }
}

/** Returns whether a figure is within a limit, or null if the ranges overlap. */
export function keepsTo(figure: Bounds, sign: '≤' | '≥', limit: Bounds): boolean | null {
  const [less, more] = sign === '≤' ? [figure, limit] : [limit, figure]
  if (less.high <= more.low) return true
  return less.low > more.high ? false : null
}
