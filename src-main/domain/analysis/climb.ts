/** The chain of steps that leads to a session's fastest rung. Pure. */
import { climbs, rungBefore, type RungResult, type Session } from '../session/session'

export interface Climb {
  /** Each rung builds on the one before it; at least two, all timed. */
  rungs: RungResult[]
  /** The first rung's time over the last one's: the product of the steps between them. */
  factor: number
}

/** Null where nothing was climbed. Steps that lead elsewhere are left out, so a product of steps is that of one chain. */
export function climbOf(session: Session): Climb | null {
  if (!climbs(session)) return null
  const timed = session.rungs.filter(
    ({ id, status, timing }) => id !== session.ladder.reference && status === 'ok' && timing,
  )
  const [first] = timed
  if (!first) return null
  const fastest = timed.reduce((best, rung) =>
    rung.timing!.medianMs < best.timing!.medianMs ? rung : best,
  )
  const rungs = [fastest]
  for (let at = rungBefore(session, fastest.id); at; at = rungBefore(session, at.id)) {
    if (rungs.includes(at)) break
    if (at.status === 'ok' && at.timing) rungs.unshift(at)
  }
  if (rungs.length < 2) return null
  return { rungs, factor: rungs[0]!.timing!.medianMs / fastest.timing!.medianMs }
}
