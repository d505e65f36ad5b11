/** Which conclusions two sessions' rungs allow, side by side. */
import { comparability, type Comparability } from '../../../src-main/domain/analysis/comparability'
import type { RungComparison } from '../../../src-main/domain/analysis/compare'
import { message } from '../../../src-main/domain/messages/message'
import type { Session } from '../../../src-main/domain/session/session'
import type { Step } from './compare-steps'

/**
 * Like the guard of reports, except that the ladders may differ: a ladder is a list of rungs, and two
 * rungs that solve the same problem can be compared whatever list they are in.
 */
export function guardOf(a: Session, b: Session): Comparability {
  const { refusals, warnings } = comparability(a, { ...b, ladder: a.ladder })
  return {
    refusals,
    warnings:
      a.ladder.id === b.ladder.id
        ? warnings
        : [message('guard.ladder', { a: a.ladder.id, b: b.ladder.id }), ...warnings],
  }
}

/** Figures without verdicts, for sessions that must not be compared. */
export const withoutVerdicts = (comparison: RungComparison): RungComparison => ({
  ...comparison,
  time: { ...comparison.time, speedup: null, noise: null, verdict: 'unknown' },
  metrics: comparison.metrics.map((delta) => ({
    ...delta,
    verdict: 'unknown',
    expected: delta.expected && { ...delta.expected, met: null },
  })),
})

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
