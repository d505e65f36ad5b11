/** Counters whose values are noise, and what replaces them. */
import { metricDefinition } from '../metrics/metrics'
import type { RungResult } from './session'

type Measured = Pick<RungResult, 'metrics'>

/**
 * The metric that a counter is shown and judged by among these rungs: the structural one where each has it, since a
 * counter of bank conflicts is not zero for code without any.
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

/** The same for those of a list that have the counter: a rung that failed has none. */
export const columnFor = (metric: string, rungs: readonly Measured[]): string =>
  withoutNoise(
    metric,
    rungs.filter(({ metrics }) => metrics[metric]?.value != null),
  )
