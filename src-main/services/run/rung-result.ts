/**
 * Computes a rung's entry in a session from the results known so far. The functions are pure and
 * can be called at any point during a run.
 */
import { sha256 } from '../../adapters/disk/build-cache'
import { settingsWords } from '../../domain/ladder/build-settings'
import { message } from '../../domain/messages/message'
import type { MetricValue } from '../../domain/metrics/metrics'
import type { PlannedRung } from '../../domain/run/plan'
import type { RungResult } from '../../domain/session/session'
import type { Task } from '../../domain/task/task'
import type { Finding, RungBuild } from './finding'
import { wrongness } from './wrongness'

type RungStatusReason = Pick<RungResult, 'status' | 'reason'>

/**
 * Returns metrics for a rung that has no counters. Each metric states why it has no value.
 */
export type MetricsWithoutCounters = (
  status: RungStatusReason,
  finding: Finding | null,
) => Record<string, MetricValue>

/** Returns a rung's description in a session before the rung is built. */
const described = ({ rung, source }: PlannedRung) => ({
  id: rung.id,
  title: rung.title,
  after: rung.header.after,
  idea: rung.header.idea,
  expect: rung.header.expect,
  flags: rung.header.flags,
  params: rung.params,
  ...(rung.build ? { buildWords: settingsWords(rung.build) } : {}),
  file: rung.file,
  sourceHash: sha256(source),
})

/** @param finding null if the rung has not been examined yet */
export function rungResult(
  build: RungBuild,
  finding: Finding | null,
  task: Task,
  withoutCounters: MetricsWithoutCounters,
): RungResult {
  const { planned, outcome } = build
  const status = statusOf(build, finding, task)
  return {
    ...described(planned),
    status: status.status,
    ...(status.reason === undefined ? {} : { reason: status.reason }),
    diagnostics: outcome?.diagnostics ?? [],
    build: outcome?.build ?? null,
    verify: finding?.verify ?? null,
    ...(finding?.alsoVerified ? { alsoVerified: [...finding.alsoVerified] } : {}),
    timing: finding?.timing ?? null,
    ...(finding?.predicted ? { predicted: finding.predicted } : {}),
    ...(finding?.notPredicted ? { notPredicted: finding.notPredicted } : {}),
    ...(finding?.launches ? { launches: finding.launches } : {}),
    ...(finding?.prepared ? { prepared: finding.prepared } : {}),
    profile: finding?.profile ?? null,
    metrics: finding?.metrics ?? withoutCounters(status, finding),
  }
}

/** Returns `ok` unless a step failed. Returns `not-run` if the rung has not been measured yet. */
function statusOf(
  { outcome, unsupported }: RungBuild,
  finding: Finding | null,
  task: Task,
): RungStatusReason {
  if (unsupported) return { status: 'unsupported', reason: unsupported }
  if (outcome && !outcome.artifact && !outcome.cancelled)
    return { status: 'failed', reason: outcome.reason ?? message('checks.notCompiled') }
  if (!finding) return { status: 'not-run', reason: message('records.notReached') }
  if (finding.trouble) return finding.trouble
  if (finding.verify && !finding.verify.passed)
    return { status: 'wrong', reason: wrongness(finding.verify, task) }
  return finding.elsewhere ?? { status: 'ok' }
}
