/**
 * Explains why one rung in an opened session is faster than another. Names the source lines that
 * caused the difference.
 */
import { rungBefore, type RungResult } from '../../domain/session/session'
import { whyOf, type Why } from '../../domain/why/why'
import type { OpenedSession } from '../sessions/open-session'
import { changedLines } from './source-diff'

type Opened = Pick<OpenedSession, 'session' | 'sources' | 'deep'>

export async function whyBetween(
  { session, sources, deep }: Opened,
  a: RungResult,
  b: RungResult,
): Promise<Why> {
  const [from, to] = [sources[a.id], sources[b.id]]
  return whyOf(
    { session, rung: a, deep: await deep(a.id) },
    { session, rung: b, deep: await deep(b.id) },
    from === undefined || to === undefined ? null : changedLines(from, to),
  )
}

/**
 * Returns the rung with which to compare the given rung. Returns null for the first rung and for
 * the reference.
 */
export const comparedWith = ({ session }: Opened, { id }: RungResult): RungResult | null =>
  id === session.ladder.reference ? null : (rungBefore(session, id) ?? null)
