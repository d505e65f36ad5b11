/** A chart's data table, and its rungs' labels. */
import { type MetricValue } from '../../../src-main/domain/metrics/metrics'
import { type RungResult, type Session } from '../../../src-main/domain/session/session'
import { numberOf } from '../shared/shown-rungs'

/**
 * The chart's data as a table. The table is the text alternative for the chart and shows the exact
 * values.
 */
export interface FigureTable {
  columns: readonly string[]
  /** Table rows. A cell is a value with its origin, a string, or null if nothing was collected. */
  rows: readonly { head: string; cells: readonly (MetricValue | string | null)[] }[]
}

/** Returns a label like `02 Coalesced`. Titles of imported rungs already start with the number. */
export function rungLabel(session: Session, rung: RungResult): string {
  const number = numberOf(session, rung)
  return rung.title.startsWith(number) ? rung.title : `${number} ${rung.title}`
}

export const derived = (value: number | null, unit: MetricValue['unit']): MetricValue =>
  value === null ? { value, unit, evidence: 'unavailable' } : { value, unit, evidence: 'derived' }
