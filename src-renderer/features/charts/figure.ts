/** What every chart of this screen hands to its frame, beside the drawing. */
import type { MetricValue } from '../../../src-main/domain/metrics'
import type { RungResult, Session } from '../../../src-main/domain/session'
import { rungNumber } from '../../ui/format'

/** The same figures as a table: the text alternative, and where exact values are read. */
export interface FigureTable {
  columns: readonly string[]
  /** A figure with its origin, null where none was collected, or words. */
  rows: readonly { head: string; cells: readonly (MetricValue | string | null)[] }[]
}

export const rungLabel = (session: Session, rung: RungResult): string =>
  `${rungNumber(rung.id, session.rungs.indexOf(rung))} ${rung.title}`

export const derived = (value: number | null, unit: MetricValue['unit']): MetricValue =>
  value === null ? { value, unit, evidence: 'unavailable' } : { value, unit, evidence: 'derived' }
