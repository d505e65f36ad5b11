/** Replaces counters whose values are mostly noise. */
import { metricDefinition } from '../metrics/metrics'
import type { RungResult } from './session'

type Measured = Pick<RungResult, 'metrics'>

/**
 * Returns the metric that should replace a noisy counter. The hardware counter for bank conflicts
 * is nonzero even for conflict-free code. If every rung has the structural counter, returns that
 * counter.
 */
export function withoutNoise(
  metric: string,
  rungs: readonly (Measured | null | undefined)[],
): string {
  const structural = metricDefinition(metric)?.structural
  return structural !== undefined &&
    rungs.length > 0 &&
    rungs.every((rung) => rung?.metrics[structural]?.value != null)
    ? structural
    : metric
}

/**
 * Returns the metric to show in the table column for `metric`. Rungs without the counter, such as
 * failed rungs, are ignored.
 */
export const columnFor = (metric: string, rungs: readonly Measured[]): string =>
  withoutNoise(
    metric,
    rungs.filter(({ metrics }) => metrics[metric]?.value != null),
  )
