/** Which rungs of a session tables and charts show: those that a filter leaves, numbered as in the whole ladder. */
import { withRungs } from '../../../src-main/domain/report/frozen-report'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { rungNumbers } from '../../ui/format'

/** What a narrowed session was made of: rungs keep the numbers that they have in the whole ladder. */
const wholes = new WeakMap<Session, Session>()

/** Of these rungs alone; the session itself if it has no others. */
export function narrowed(session: Session, ids: readonly string[]): Session {
  if (session.rungs.every(({ id }) => ids.includes(id))) return session
  const narrow = withRungs(session, ids)
  wholes.set(narrow, session)
  return narrow
}

/** The session that a narrowed one was made of: what a rung builds on may not be shown. */
export const wholeOf = (session: Session): Session => wholes.get(session) ?? session

export function numberOf(session: Session, rung: RungResult): string {
  const { rungs } = wholeOf(session)
  return rungNumbers(rungs)[rungs.indexOf(rung)] ?? ''
}

interface Numbered {
  rung: RungResult
  number: string
}

/**
 * The rows that a search, as typed, leaves: those of that number if there are any, else those that have all of the
 * words in what names or describes them. Null if nothing is searched for.
 */
export function foundBy(
  search: string,
  rows: readonly Numbered[],
): ((row: Numbered) => boolean) | null {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return null
  const [first = ''] = words
  const isNumber = ({ number }: Numbered): boolean => Number.parseInt(number, 10) === Number(first)
  if (words.length === 1 && /^\d+$/.test(first) && rows.some(isNumber)) return isNumber
  return ({ rung, number }) => {
    const text = [number, rung.id, rung.title, rung.idea, rung.status, inEnglish(rung.reason ?? '')]
      .join('\n')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

/** The rungs that a search, as typed, leaves. */
export function foundRungs(session: Session, search: string): readonly RungResult[] {
  const rows = session.rungs.map((rung) => ({ rung, number: numberOf(session, rung) }))
  const isFound = foundBy(search, rows)
  return isFound ? rows.filter(isFound).map(({ rung }) => rung) : session.rungs
}

/** Picked rungs in ladder order, so that b is the later one. */
export const inLadderOrder = (session: Session, picked: readonly string[]): string[] =>
  session.rungs.filter(({ id }) => picked.includes(id)).map(({ id }) => id)
