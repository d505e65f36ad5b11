/** Which rungs of a session tables and charts show: those that a filter leaves, numbered as in the whole ladder. */
import { withRungs } from '../../src-main/domain/report/frozen-report'
import type { RungResult, Session } from '../../src-main/domain/session/session'
import { inEnglish } from '../../src-main/domain/text/text'
import { rungNumbers } from '../ui/format'

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

/** Whether a rung has all of these words, in lower case, in what names or describes it. */
export const hasWords = (
  { rung, number }: { rung: RungResult; number: string },
  words: readonly string[],
): boolean => {
  const text = [number, rung.id, rung.title, rung.idea, rung.status, inEnglish(rung.reason ?? '')]
    .join('\n')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

export const searchWords = (search: string): string[] =>
  search.toLowerCase().split(/\s+/).filter(Boolean)

/** The rungs that a search, as typed, leaves. */
export function foundRungs(session: Session, search: string): readonly RungResult[] {
  const words = searchWords(search)
  if (words.length === 0) return session.rungs
  return session.rungs.filter((rung) => hasWords({ rung, number: numberOf(session, rung) }, words))
}

/** Picked rungs in ladder order, so that b is the later one. */
export const inLadderOrder = (session: Session, picked: readonly string[]): string[] =>
  session.rungs.filter(({ id }) => picked.includes(id)).map(({ id }) => id)
