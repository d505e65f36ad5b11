/** Explains why each rung of a session is faster or slower than the previous one. */
import { climbs, rungBefore, type RungResult, type Session } from '../session/session'
import { Why, whyOf } from './why'

export interface WhyStep {
  a: RungResult
  b: RungResult
  why: Why
}

/**
 * Returns the explanation of each step. The reference has no step. Launches in an import or program
 * have no steps either, because they do different work.
 */
export const whyOfSteps = (session: Session): WhyStep[] =>
  (climbs(session) ? session.rungs : []).flatMap((b): WhyStep[] => {
    const a = rungBefore(session, b.id)
    if (!a || b.id === session.ladder.reference) return []
    return [{ a, b, why: whyOf({ session, rung: a }, { session, rung: b }) }]
  })
