/** Finds another session with the same ladder, problem, and GPU and with a higher profile level. */
import type { SessionSummary } from '../../../src-main/contract/index'
import {
  profileLevels,
  type ProfileLevel,
} from '../../../src-main/domain/metrics/metric-definition'
import { isImport } from '../../../src-main/domain/session/session-summary'

const rank = (level: ProfileLevel): number => profileLevels.indexOf(level)

const sorted = (values: object): string =>
  JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))

const what = ({ ladder, problem, deviceName }: SessionSummary): string =>
  [
    ladder.id,
    deviceName,
    ...(problem ? [sorted(problem.sizes), sorted(problem.scalars), sorted(problem.options)] : []),
  ].join('\n')

/**
 * Returns the session with the highest profile level, which must be at least `level` and above the
 * level of session `ref`. If several sessions match, returns the newest session.
 */
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
