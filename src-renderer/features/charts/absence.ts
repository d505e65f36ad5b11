/**
 * Explains why a session lacks the data for a chart. An empty chart would suggest that the values
 * are zero.
 */
import { metricDefinition } from '../../../src-main/domain/metrics/metrics'
import type { Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { says, type Statement } from '../../../src-main/domain/messages/message'
import {
  profileLevels,
  type MetricDefinition,
  type ProfileLevel,
} from '../../../src-main/domain/metrics/metric-definition'
import { runCommand } from '../../../src-main/domain/session/commands'
import { can } from '../../../src-main/domain/targets/targets'

export type Absence =
  /** The session's profile level does not collect these counters. */
  | { kind: 'level'; level: ProfileLevel; sessionLevel: ProfileLevel }
  /** An imported file has only the metrics that the ncu command requested. */
  | { kind: 'notInFile'; ncu: string[] }
  /** The session was recorded before its level collected these counters. */
  | { kind: 'older'; level: ProfileLevel }
  /** The counters were requested but not collected. Each reason is listed once. */
  | { kind: 'unavailable'; reasons: Statement[] }

const rank = (level: ProfileLevel): number => profileLevels.indexOf(level)

const once = (statements: readonly Statement[]): Statement[] => [
  ...new Map(statements.map((one) => [inEnglish(one), one])).values(),
]

/**
 * Returns why the metrics `ids` have no values, or null if at least one rung has at least one of
 * the values.
 */
export function absence(session: Session, ids: readonly string[]): Absence | null {
  const values = session.rungs.flatMap(({ metrics }) => ids.map((id) => metrics[id]))
  if (values.some((value) => value?.value != null)) return null
  const definitions = ids
    .map(metricDefinition)
    .filter((definition): definition is MetricDefinition => definition !== undefined)
  if (!can(session.target).knowsRun)
    return { kind: 'notInFile', ncu: definitions.flatMap(({ ncu }) => ncu[0] ?? []) }
  const level = definitions.reduce<ProfileLevel>(
    (highest, { level: own }) => (rank(own) > rank(highest) ? own : highest),
    'card',
  )
  if (rank(session.settings.profile) < rank(level))
    return { kind: 'level', level, sessionLevel: session.settings.profile }
  const profiled = session.rungs.filter(({ profile }) => profile !== null)
  const isOlder = definitions.every(({ id }) =>
    profiled.every(({ metrics }) => says(metrics[id]?.reason, 'records.notAsked')),
  )
  if (profiled.length > 0 && isOlder) return { kind: 'older', level }
  return {
    kind: 'unavailable',
    reasons: once(values.flatMap((value) => value?.reason ?? [])),
  }
}

/** Returns the command that collects the counters for this session's ladder and problem. */
export const commandFor = (session: Session, level: ProfileLevel): string =>
  runCommand(session, session.problem && session.problem.sizes, level)
