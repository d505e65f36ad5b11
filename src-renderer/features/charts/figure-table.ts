/** The table of a chart's figures, and the labels of its rungs. */
import { type MetricValue } from '../../../src-main/domain/metrics/metrics'
import { type RungResult, type Session } from '../../../src-main/domain/session/session'
import { numberOf } from '../shared/shown-rungs'

/** The same data as a table: the text alternative, and the place for exact values. */
export interface FigureTable {
  columns: readonly string[]
  /** A value with its origin, null if none was collected, or text. */
  rows: readonly { head: string; cells: readonly (MetricValue | string | null)[] }[]
}

/** `02 Coalesced`; an import's titles already start with the number. */
export function rungLabel(session: Session, rung: RungResult): string {
  const number = numberOf(session, rung)
  return rung.title.startsWith(number) ? rung.title : `${number} ${rung.title}`
}

export const derived = (value: number | null, unit: MetricValue['unit']): MetricValue =>
  value === null ? { value, unit, evidence: 'unavailable' } : { value, unit, evidence: 'derived' }
