/** The ladder's metric columns, their groups, and their scales. */
import { countedColumns, hasTimes } from '../../../src-main/domain/analysis/table-columns'
import { leadMetric } from '../../../src-main/domain/analysis/lead-figure'
import { cardMetricIds, metricDefinition } from '../../../src-main/domain/metrics/metrics'
import type { Session } from '../../../src-main/domain/session/session'
import { columnFor } from '../../../src-main/domain/session/noisy-counters'
import { groupMetrics, type MetricGroupId } from '../shared/metric-groups'
import { makeScale, type Scale } from '../../ui/scale'

export interface ColumnGroup {
  id: MetricGroupId
  metrics: readonly string[]
}

/**
 * Metrics that replace the bank conflict columns of a memory-bound task if no rung has conflicts.
 */
const ofMemory = ['dramBytes', 'l2HitRate'] as const

const conflicts = ['sharedLoadBankConflicts', 'sharedStoreBankConflicts'] as const

const registersOf = ({ rungs }: Session): string[] =>
  ['registersPerThread'].filter((id) => rungs.some(({ metrics }) => metrics[id]?.value != null))

/**
 * Returns the default columns: the card metrics and the registers. A deep session shows structural
 * bank conflicts instead of the noisy conflict counters. If a unit other than the FMA pipe bounds
 * the task, its utilization replaces the FMA pipe's utilization. In a memory-bound task without
 * bank conflicts, memory metrics replace the bank conflict columns. A session without times shows
 * all its counters.
 */
export function usualColumns(session: Session): string[] {
  const own = hasTimes(session) ? [] : [...countedColumns(session), ...registersOf(session)]
  if (own.length > 0) return own
  const lead = leadMetric(session)
  const has = (id: string) => session.rungs.some(({ metrics }) => (metrics[id]?.value ?? 0) > 0)
  const isMemory = lead === 'dramUtilization' && !conflicts.some(has)
  const moved = isMemory ? ofMemory.filter(has) : []
  return [...cardMetricIds, 'registersPerThread']
    .filter((id) => moved.length === 0 || !conflicts.some((one) => one === id))
    .map((id): string => (id === 'fmaUtilization' ? lead : columnFor(id, session.rungs)))
    .concat(moved)
}

/** Groups metrics into columns. */
export const columnGroups = (ids: readonly string[]): ColumnGroup[] => groupMetrics(ids)

export const metricsOf = (groups: readonly ColumnGroup[]): string[] =>
  groups.flatMap(({ metrics }) => metrics)

/**
 * Returns the scale of a metric's bars. The scale of a percentage ends at 100 %. Other scales end
 * at the largest value in the ladder.
 */
export function metricScale(session: Session, id: string): Scale {
  if (metricDefinition(id)?.unit === '%') return { kind: 'linear', min: 0, max: 100 }
  return makeScale(
    'linear',
    session.rungs.map((rung) => rung.metrics[id]?.value ?? 0),
  )
}
