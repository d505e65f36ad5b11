/** Why each rung of a session is faster or slower than the previous one. */
import { climbs, rungBefore, type RungResult, type Session } from '../session/session'
import { Why, whyOf } from './why'

export interface WhyStep {
  a: RungResult
  b: RungResult
  why: Why
}

/** The reference is compared with no rung, and no launch of an import or program with the one before it: they do other work. */
export const whyOfSteps = (session: Session): WhyStep[] =>
  (climbs(session) ? session.rungs : []).flatMap((b): WhyStep[] => {
    const a = rungBefore(session, b.id)
    if (!a || b.id === session.ladder.reference) return []
    return [{ a, b, why: whyOf({ session, rung: a }, { session, rung: b }) }]
  })
