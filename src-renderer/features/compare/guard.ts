/** Pairs of rungs of two sessions, side by side. */
import type { Session } from '../../../src-main/domain/session/session'
import type { Step } from './compare-steps'

/** The rung before or after that both sessions have. */
export function sharedStep(a: Session, b: Session, from: string, by: 1 | -1): Step | undefined {
  const shared = a.rungs.filter(({ id }) => b.rungs.some((rung) => rung.id === id))
  const order = a.rungs.map(({ id }) => id)
  const here = order.indexOf(from)
  const further = shared.filter(({ id }) => (order.indexOf(id) - here) * by > 0)
  const next = by > 0 ? further[0] : further.at(-1)
  return next && { a: next.id, b: next.id }
}

/** A rung that both have, or if there is none, the last rung of each. */
export function pairAcross(a: Session, b: Session): [string, string] | null {
  const shared = a.rungs.findLast(
    (rung) => rung.timing && b.rungs.some(({ id, timing }) => id === rung.id && timing),
  )
  if (shared) return [shared.id, shared.id]
  const [left, right] = [a.rungs.at(-1), b.rungs.at(-1)]
  return left && right ? [left.id, right.id] : null
}
