/** Pairs the rungs of two sessions. */
import type { Session } from '../../../src-main/domain/session/session'
import type { SessionComparison } from '../../../src-main/domain/programs/session-comparison'
import type { Step } from './ladder-steps'

type Pairs = Pick<SessionComparison, 'pairs'>

/**
 * Returns pairs of rungs in the order of session a. A rung with several kernels is paired by its
 * first kernel.
 */
function rungPairs({ pairs }: Pairs): Step[] {
  const seen = new Set<string>()
  return pairs.flatMap(({ sideA, sideB }) => {
    if (seen.has(sideA.rung)) return []
    seen.add(sideA.rung)
    return [{ a: sideA.rung, b: sideB.rung }]
  })
}

/** Returns the pair before or after the given rung of session a. */
export function pairedStep(
  a: Session,
  compared: Pairs,
  from: string,
  by: 1 | -1,
): Step | undefined {
  const order = a.rungs.map(({ id }) => id)
  const here = order.indexOf(from)
  const further = rungPairs(compared).filter((pair) => (order.indexOf(pair.a) - here) * by > 0)
  return by > 0 ? further[0] : further.at(-1)
}

/**
 * Returns the last pair that was timed in both sessions, or the last pair if none was timed. If
 * there are no pairs, returns the last rung of each session.
 */
export function pairAcross(a: Session, b: Session, compared: Pairs): [string, string] | null {
  const timed = compared.pairs.filter(({ ratio }) => ratio !== null)
  const last = rungPairs({ pairs: timed.length > 0 ? timed : compared.pairs }).at(-1)
  if (last) return [last.a, last.b]
  const [left, right] = [a.rungs.at(-1), b.rungs.at(-1)]
  return left && right ? [left.id, right.id] : null
}
