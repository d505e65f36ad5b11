/** A ladder's steps. Each step compares a rung with the rung on which it builds. */
import { climbs, rungBefore, type Session } from '../../../src-main/domain/session/session'

export interface Step {
  a: string
  b: string
}

export const steps = (session: Session): Step[] =>
  session.rungs.flatMap((rung) => {
    if (!climbs(session) || rung.id === session.ladder.reference) return []
    const before = rungBefore(session, rung.id)
    return before ? [{ a: before.id, b: rung.id }] : []
  })

/** Returns the next or previous step of the ladder. The current pair does not have to be a step. */
export function stepFrom(session: Session, b: string, by: 1 | -1): Step | undefined {
  const order = session.rungs.map(({ id }) => id)
  const here = order.indexOf(b)
  const candidates = steps(session).filter((step) => (order.indexOf(step.b) - here) * by > 0)
  return by > 0 ? candidates[0] : candidates.at(-1)
}
