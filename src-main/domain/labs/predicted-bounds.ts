/**
 * Compares predicted figures. A comparison is true only if it holds over the full ranges of the two
 * figures.
 */
import type { MetricValue } from '../metrics/metrics'
import type { RungResult } from '../session/session'

interface Bounds {
  low: number
  high: number
}

/**
 * Returns a figure's range. The model provides no range for rates and stall reasons, so their range
 * is the relative range of the rung's predicted time.
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

/** Returns whether a figure satisfies a limit, or null if the ranges overlap. */
export function keepsTo(figure: Bounds, sign: '≤' | '≥', limit: Bounds): boolean | null {
  const [less, more] = sign === '≤' ? [figure, limit] : [limit, figure]
  if (less.high <= more.low) return true
  return less.low > more.high ? false : null
}
