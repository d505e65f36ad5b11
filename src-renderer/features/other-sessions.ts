/** What other sessions have to do with this one: which conclusions two allow, and one that was profiled at a higher level. */
import type { SessionSummary } from '../../src-main/contract/index'
import { profileLevels, type ProfileLevel } from '../../src-main/domain/metrics/metric-definition'
import { isImport } from '../../src-main/contract/sessions'
import { comparability, type Comparability } from '../../src-main/domain/analysis/comparability'
import type { RungComparison } from '../../src-main/domain/analysis/compare'
import { message } from '../../src-main/domain/messages/message'
import type { Session } from '../../src-main/domain/session/session'

// Another session of the same ladder, problem and GPU that was profiled at a higher level.

const rank = (level: ProfileLevel): number => profileLevels.indexOf(level)

const sorted = (values: object): string =>
  JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))
const what = ({ ladder, problem, deviceName }: SessionSummary): string =>
  [
    ladder.id,
    deviceName,
    ...(problem ? [sorted(problem.sizes), sorted(problem.scalars), sorted(problem.options)] : []),
  ].join('\n')

/** The highest level, at least `level` and above the session's own; of several, the newest. */
export function deeperSession(
  list: readonly SessionSummary[],
  ref: string,
  level: ProfileLevel = 'deep',
): SessionSummary | undefined {
  const own = list.find((item) => item.ref === ref)
  if (!own || own.damaged !== undefined) return undefined
  return list
    .filter((item) => item.damaged === undefined && !isImport(item) && what(item) === what(own))
    .filter((item) => rank(item.profile) > rank(own.profile) && rank(item.profile) >= rank(level))
    .sort((a, b) => rank(b.profile) - rank(a.profile) || b.createdAt.localeCompare(a.createdAt))[0]
}

// Which conclusions two sessions' rungs allow.

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
