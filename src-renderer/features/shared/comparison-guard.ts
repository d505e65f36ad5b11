/** Checks whether two sessions can be compared. */
import { comparability, type Comparability } from '../../../src-main/domain/analysis/comparability'
import type { RungComparison } from '../../../src-main/domain/analysis/compare'
import { message } from '../../../src-main/domain/messages/message'
import type { Session } from '../../../src-main/domain/session/session'

/**
 * Returns whether two sessions can be compared. Unlike in reports, the sessions' ladders can
 * differ, because any two rungs that solve the same problem are comparable.
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

/** Returns the comparison without verdicts, for sessions whose results are not comparable. */
export const withoutVerdicts = (comparison: RungComparison): RungComparison => ({
  ...comparison,
  time: { ...comparison.time, speedup: null, noise: null, verdict: 'unknown' },
  metrics: comparison.metrics.map((delta) => ({
    ...delta,
    verdict: 'unknown',
    expected: delta.expected && { ...delta.expected, met: null },
  })),
})
