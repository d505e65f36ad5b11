/** The data table of a chart, and the labels of its rungs. */
import { type MetricValue } from '../../../src-main/domain/metrics/metrics'
import { type RungResult, type Session } from '../../../src-main/domain/session/session'
import { numberOf } from '../shared/shown-rungs'

/** The chart's data as a table. It is the text alternative and has the exact values. */
export interface FigureTable {
  columns: readonly string[]
  /** A cell is a value with its origin, null if nothing was collected, or text. */
  rows: readonly { head: string; cells: readonly (MetricValue | string | null)[] }[]
}

/** Returns `02 Coalesced`. Titles of imported rungs already start with the number. */
export function rungLabel(session: Session, rung: RungResult): string {
  const number = numberOf(session, rung)
  return rung.title.startsWith(number) ? rung.title : `${number} ${rung.title}`
}

export const derived = (value: number | null, unit: MetricValue['unit']): MetricValue =>
  value === null ? { value, unit, evidence: 'unavailable' } : { value, unit, evidence: 'derived' }
