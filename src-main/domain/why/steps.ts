/** Why each rung of a session is faster or slower than the one before. */
import { rungBefore, type RungResult, type Session } from '../session/session'
import { whyOf, type Why } from './why'

export interface WhyStep {
  a: RungResult
  b: RungResult
  why: Why
}

/** The reference is compared with no rung. */
export const whyOfSteps = (session: Session): WhyStep[] =>
  session.rungs.flatMap((b): WhyStep[] => {
    const a = rungBefore(session, b.id)
    if (!a || b.id === session.ladder.reference) return []
    return [{ a, b, why: whyOf({ session, rung: a }, { session, rung: b }) }]
  })
