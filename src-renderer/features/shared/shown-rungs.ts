/**
 * Filters the rungs that tables and charts show. Shown rungs keep their numbers from the whole
 * ladder.
 */
import { withRungs } from '../../../src-main/domain/report/frozen-report'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { rungNumbers } from '../../ui/format'

/**
 * Maps each filtered session to its whole session. Rungs keep their numbers from the whole session.
 */
const wholes = new WeakMap<Session, Session>()

/**
 * Returns a session with only the given rungs. If the list contains all rungs, returns the session
 * itself.
 */
export function narrowed(session: Session, ids: readonly string[]): Session {
  if (session.rungs.every(({ id }) => ids.includes(id))) return session
  const narrow = withRungs(session, ids)
  wholes.set(narrow, session)
  return narrow
}

/**
 * Returns the whole session from which a filtered session was made. A rung may build on a rung that
 * is not shown.
 */
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
 * Returns a function that tests whether a row matches a search. Returns null if the search is
 * empty. A number matches the rungs with that number, if there are any. Otherwise, a row matches if
 * its names and descriptions contain all words.
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

/** Returns the rungs that match a search. */
export function foundRungs(session: Session, search: string): readonly RungResult[] {
  const rows = session.rungs.map((rung) => ({ rung, number: numberOf(session, rung) }))
  const isFound = foundBy(search, rows)
  return isFound ? rows.filter(isFound).map(({ rung }) => rung) : session.rungs
}

/** Returns the ids of the picked rungs in ladder order, so that b comes after a. */
export const inLadderOrder = (session: Session, picked: readonly string[]): string[] =>
  session.rungs.filter(({ id }) => picked.includes(id)).map(({ id }) => id)
