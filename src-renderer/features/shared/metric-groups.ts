/** The grouping and order of metrics in every list. */
import { metricGroups, type MetricGroup } from '../../../src-main/domain/metrics/metric-definition'
import { metricDefinition, metricDefinitions } from '../../../src-main/domain/metrics/metrics'

export type MetricGroupId = MetricGroup | 'other'

/** Returns the given ids in the registry's groups and order. Unknown ids come last. */
export function groupMetrics(
  ids: readonly string[],
): { id: MetricGroupId; metrics: readonly string[] }[] {
  const known = metricDefinitions.filter(({ id }) => ids.includes(id))
  return [
    ...metricGroups.map((id) => ({
      id,
      metrics: known.filter(({ group }) => group === id).map((metric) => metric.id),
    })),
    { id: 'other' as const, metrics: ids.filter((id) => !metricDefinition(id)) },
  ].filter(({ metrics }) => metrics.length > 0)
}
