/** What every chart of this screen hands to its frame, beside the drawing. */
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { rungNumbers } from '../../ui/format'

/** The same figures as a table: the text alternative, and where exact values are read. */
export interface FigureTable {
  columns: readonly string[]
  /** A figure with its origin, null where none was collected, or words. */
  rows: readonly { head: string; cells: readonly (MetricValue | string | null)[] }[]
}

/** `02 Coalesced`; an import's titles begin with the number already. */
export function rungLabel(session: Session, rung: RungResult): string {
  const number = rungNumbers(session.rungs)[session.rungs.indexOf(rung)] ?? ''
  return rung.title.startsWith(number) ? rung.title : `${number} ${rung.title}`
}

export const derived = (value: number | null, unit: MetricValue['unit']): MetricValue =>
  value === null ? { value, unit, evidence: 'unavailable' } : { value, unit, evidence: 'derived' }
