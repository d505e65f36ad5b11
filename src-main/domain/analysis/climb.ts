/** The chain of steps that leads to a session's fastest rung. */
import { message, type AnyMessage, type Statement } from '../messages/message'
import { formatRatio } from '../metrics/units'
import { speedup } from './compare'
import { climbs, rungBefore, type RungResult, type Session } from '../session/session'
import { code } from '../messages/sentence'

interface Climb {
  /** At least two timed rungs, each of which builds on the previous rung. */
  rungs: RungResult[]
  /**
   * Time of the first rung divided by the time of the last rung. The ratio is the product of the
   * step factors.
   */
  factor: number
}

/**
 * Returns the chain to the fastest rung, or null if no chain exists. Branches are excluded, so all
 * steps belong to one chain.
 */
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
  const seen = new Set<RungResult>(rungs)
  for (let at = rungBefore(session, fastest.id); at; at = rungBefore(session, at.id)) {
    if (seen.has(at)) break
    seen.add(at)
    if (at.status !== 'ok' || !at.timing) continue
    // A ratio of times with different L2 contents has no meaning.
    if (at.timing.cacheState !== fastest.timing!.cacheState) break
    rungs.unshift(at)
  }
  if (rungs.length < 2) return null
  return { rungs, factor: rungs[0]!.timing!.medianMs / fastest.timing!.medianMs }
}

export interface TakenStep {
  /** The rung that this rung builds on. */
  from: RungResult
  /** Time of rung `from` divided by the time of this rung. */
  factor: number
  /**
   * Whether `from` is missing from the previous table row, so that the table must show its name.
   */
  isElsewhere: boolean
}

/**
 * Returns the step that leads to a rung. Returns null for the reference and if either time is
 * missing.
 */
export function stepTo(session: Session, rung: RungResult): TakenStep | null {
  if (!climbs(session) || rung.id === session.ladder.reference) return null
  const from = rungBefore(session, rung.id)
  const factor = speedup(from, rung)
  if (!from || factor === null) return null
  const above = session.rungs[session.rungs.findIndex(({ id }) => id === rung.id) - 1]
  return { from, factor, isElsewhere: from.id !== above?.id }
}

/** Returns `1.16×`, or `1.16× from 03_shared_tile` if that rung is not in the previous row. */
export function stepWords(session: Session, rung: RungResult): Statement | null {
  const step = stepTo(session, rung)
  if (!step) return null
  const factor = formatRatio(step.factor)
  return step.isElsewhere ? message('summary.stepFrom', { factor, from: step.from.id }) : factor
}

/** Returns a sentence with the factor and the two rungs that the factor compares. */
export function climbWords(session: Session): AnyMessage | null {
  const climb = climbOf(session)
  if (!climb) return null
  return message('summary.climb', {
    factor: formatRatio(climb.factor),
    from: code(climb.rungs[0]!.id),
    to: code(climb.rungs.at(-1)!.id),
    steps: climb.rungs.length - 1,
  })
}
