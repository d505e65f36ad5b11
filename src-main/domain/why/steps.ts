/** Why each rung of a session is faster or slower than the one before. */
import { rungBefore, type RungResult, type Session } from '../session/session'
import { whyOf, type Why } from './why'

export interface WhyStep {
  a: RungResult
  b: RungResult
  why: Why
}

/** The reference is compared with no rung, and no kernel of a program with the one before it: they do other work. */
export const whyOfSteps = (session: Session): WhyStep[] =>
  (session.program ? [] : session.rungs).flatMap((b): WhyStep[] => {
    const a = rungBefore(session, b.id)
    if (!a || b.id === session.ladder.reference) return []
    return [{ a, b, why: whyOf({ session, rung: a }, { session, rung: b }) }]
  })
