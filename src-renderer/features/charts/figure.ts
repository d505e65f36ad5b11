/** What every chart of this screen passes to its frame besides the drawing. */
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import { withRungs } from '../../../src-main/domain/report/frozen-report'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { rungNumbers } from '../../ui/format'

/** The same data as a table: the text alternative, and the place for exact values. */
export interface FigureTable {
  columns: readonly string[]
  /** A value with its origin, null if none was collected, or text. */
  rows: readonly { head: string; cells: readonly (MetricValue | string | null)[] }[]
}

/** What a narrowed session was made of: rungs keep the numbers that they have in the whole ladder. */
const wholes = new WeakMap<Session, Session>()

/** Of these rungs alone; the session itself if it has no others. */
export function narrowed(session: Session, ids: readonly string[]): Session {
  if (session.rungs.every(({ id }) => ids.includes(id))) return session
  const narrow = withRungs(session, ids)
  wholes.set(narrow, session)
  return narrow
}

export function numberOf(session: Session, rung: RungResult): string {
  const { rungs } = wholes.get(session) ?? session
  return rungNumbers(rungs)[rungs.indexOf(rung)] ?? ''
}

/** `02 Coalesced`; an import's titles already start with the number. */
export function rungLabel(session: Session, rung: RungResult): string {
  const number = numberOf(session, rung)
  return rung.title.startsWith(number) ? rung.title : `${number} ${rung.title}`
}

export const derived = (value: number | null, unit: MetricValue['unit']): MetricValue =>
  value === null ? { value, unit, evidence: 'unavailable' } : { value, unit, evidence: 'derived' }
