/** Counters whose values are noise, and the counters that replace them. */
import { metricDefinition } from '../metrics/metrics'
import type { RungResult } from './session'

type Measured = Pick<RungResult, 'metrics'>

/**
 * Returns the metric to show and judge a counter by. If every rung has the structural counter, that one is used, because the hardware
 * counter of bank conflicts is nonzero even for conflict-free code.
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

/** The same, for the rungs of a list that have the counter: failed rungs have none. */
export const columnFor = (metric: string, rungs: readonly Measured[]): string =>
  withoutNoise(
    metric,
    rungs.filter(({ metrics }) => metrics[metric]?.value != null),
  )
