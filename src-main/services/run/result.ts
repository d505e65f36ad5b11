/** Builds a rung's result from what is known at some point of a run. */
import { sha256 } from '../../adapters/disk/build-cache'
import { message, type Statement } from '../../domain/messages/message'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import type { MetricValue } from '../../domain/metrics/metrics'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import type { RungResult, VerifiedAt } from '../../domain/session/session'
import type { Device } from '../../domain/gpu/gpu'
import { bufferTitle, elementPlace, outputsOf, type Task } from '../../domain/task/task'
import type { BuildOutcome } from './build'
import type { Measured } from './measure'
import type { PlannedRung } from './plan'
import { allUnavailable, type ProfileOutcome } from './profile'

export interface RungState {
  planned: PlannedRung
  build: BuildOutcome | null
  unsupported: Statement | null
  measured: Measured | null
  /** It was excluded from profiling. */
  profileSkipped?: boolean
  alsoVerified?: VerifiedAt[]
  /** The result of a further problem, if it is decisive. */
  further?: Pick<RungResult, 'status' | 'reason'>
}

/** A rung's description in a session, before anything is done with it. */
export const describedRung = ({ rung, source }: PlannedRung) => ({
  id: rung.id,
  title: rung.title,
  after: rung.header.after,
  idea: rung.header.idea,
  expect: rung.header.expect,
  flags: rung.header.flags,
  params: rung.params,
  file: rung.file,
  sourceHash: sha256(source),
})

/** `profiled` is null while no counters have been collected. */
export function toResult(
  state: RungState,
  task: Task,
  level: ProfileLevel,
  profiled: ProfileOutcome | null,
  device: Device,
): RungResult {
  const { build, measured } = state
  const { rung } = state.planned
  const own = profiled?.profiles.get(rung.id)
  const { status, reason } = statusOf(state, task)
  return {
    ...describedRung(state.planned),
    status,
    ...(reason === undefined ? {} : { reason }),
    diagnostics: build?.diagnostics ?? [],
    build: build?.build ?? null,
    verify: measured?.verify ?? null,
    ...(state.alsoVerified ? { alsoVerified: state.alsoVerified } : {}),
    timing: measured?.timing ?? null,
    ...(measured?.launches ? { launches: measured.launches } : {}),
    ...(measured?.prepared ? { prepared: measured.prepared } : {}),
    profile: own?.profile ?? null,
    metrics:
      own?.metrics ??
      withoutCounters(
        allUnavailable(
          level === 'none' ? 'card' : level,
          noCounters(state, status, level, profiled),
        ),
        measured,
        device,
      ),
  }
}

/** Metrics derived from the launch replace missing counters. */
function withoutCounters(
  metrics: Record<string, MetricValue>,
  measured: Measured | null,
  device: Device,
): Record<string, MetricValue> {
  if (!measured?.launches) return metrics
  return { ...metrics, ...derivedMetrics(measured.launches, device) }
}

/** `ok` unless something failed, and `not-run` before it was measured. */
export function statusOf(
  { build, measured, unsupported, further }: RungState,
  task: Task,
): Pick<RungResult, 'status' | 'reason'> {
  if (unsupported) return { status: 'unsupported', reason: unsupported }
  if (build && !build.artefact && !build.cancelled)
    return { status: 'failed', reason: build.reason ?? message('checks.notCompiled') }
  if (!measured) return { status: 'not-run', reason: message('records.notReached') }
  if (measured.trouble) return measured.trouble
  if (measured.verify && !measured.verify.passed)
    return { status: 'wrong', reason: wrongness(measured.verify, task) }
  return further ?? { status: 'ok' }
}

function noCounters(
  { profileSkipped }: RungState,
  status: RungResult['status'],
  level: ProfileLevel,
  profiled: ProfileOutcome | null,
): Statement {
  if (status !== 'ok') return message('records.noTimeNoProfile')
  if (level === 'none') return message('records.profilingOff')
  if (profileSkipped) return message('records.profilingSkipped')
  if (!profiled) return message('records.endedBeforeProfile')
  return profiled.trouble?.message ?? message('records.noLaunchReported')
}

const titles = (task: Task, buffers: readonly string[]): string =>
  buffers.map((buffer) => bufferTitle(task, buffer)).join(', ')

export function wrongness(verify: NonNullable<Measured['verify']>, task: Task): Statement {
  const { outOfBounds, changedInputs, firstMismatch: first, mismatches: count } = verify
  if (outOfBounds.length > 0)
    return message('records.writesOutside', { buffers: titles(task, outOfBounds) })
  if (changedInputs.length > 0)
    return message('records.changesInputs', { buffers: titles(task, changedInputs) })
  const buffers = titles(task, outputsOf(task))
  if (!first) return message('records.mismatches', { count, buffers })
  return message('records.mismatchesAt', {
    count,
    buffers,
    place: elementPlace(task, first.buffer, first.index),
    actual: first.actual ?? 'NaN',
    expected: first.expected ?? 'NaN',
  })
}
