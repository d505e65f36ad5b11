/** Compares predicted figures: only statements that hold over their whole ranges. */
import type { MetricValue } from '../metrics/metrics'
import type { RungResult } from '../session/session'

interface Bounds {
  low: number
  high: number
}

/**
 * Returns the range of a figure. The model has no range for a rate or a stall reason; it is assumed to be as wide as that of the rung's
 * time.
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

/** Whether a figure is within a limit; null if that cannot be determined. */
export function keepsTo(figure: Bounds, sign: '≤' | '≥', limit: Bounds): boolean | null {
  const [less, more] = sign === '≤' ? [figure, limit] : [limit, figure]
  if (less.high <= more.low) return true
  return less.low > more.high ? false : null
}
