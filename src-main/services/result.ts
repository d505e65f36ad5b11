/** From what is known of a rung at some point of a run to its result. */
import { sha256 } from '../adapters/build-cache'
import { derivedMetrics } from '../domain/derived-metrics'
import type { MetricValue } from '../domain/metrics'
import type { ProfileLevel } from '../domain/metric-definition'
import type { RungResult, VerifiedAt } from '../domain/session'
import type { Device } from '../domain/device'
import type { BuildOutcome } from './build'
import type { Measured } from './measure'
import type { PlannedRung } from './plan'
import { allUnavailable, type ProfileOutcome } from './profile'

export interface RungState {
  planned: PlannedRung
  build: BuildOutcome | null
  unsupported: string | null
  measured: Measured | null
  /** It was left out of profiling. */
  profileSkipped?: boolean
  alsoVerified?: VerifiedAt[]
}

/** `profiled` is null while no counters have been collected. */
export function toResult(
  state: RungState,
  level: ProfileLevel,
  profiled: ProfileOutcome | null,
  device: Device,
): RungResult {
  const { build, measured } = state
  const { rung, source } = state.planned
  const own = profiled?.profiles.get(rung.id)
  const { status, reason } = statusOf(state)
  return {
    id: rung.id,
    title: rung.title,
    after: rung.header.after,
    idea: rung.header.idea,
    expect: rung.header.expect,
    params: rung.params,
    file: rung.file,
    sourceHash: sha256(source),
    status,
    ...(reason === undefined ? {} : { reason }),
    diagnostics: build?.diagnostics ?? [],
    build: build?.build ?? null,
    verify: measured?.verify ?? null,
    ...(state.alsoVerified ? { alsoVerified: state.alsoVerified } : {}),
    timing: measured?.timing ?? null,
    ...(measured?.launches ? { launches: measured.launches } : {}),
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

/** What follows from the launch alone stands in place of the counters that are missing. */
function withoutCounters(
  metrics: Record<string, MetricValue>,
  measured: Measured | null,
  device: Device,
): Record<string, MetricValue> {
  if (!measured?.launches) return metrics
  return { ...metrics, ...derivedMetrics(measured.launches, device) }
}

function statusOf({
  build,
  measured,
  unsupported,
}: RungState): Pick<RungResult, 'status' | 'reason'> {
  if (unsupported) return { status: 'unsupported', reason: unsupported }
  if (build && !build.artefact && build.reason !== 'cancelled')
    return { status: 'failed', reason: build.reason ?? 'It does not compile.' }
  if (!measured) return { status: 'not-run', reason: 'It was not reached.' }
  if (measured.trouble) return measured.trouble
  if (measured.verify && !measured.verify.passed)
    return { status: 'wrong', reason: wrongness(measured.verify) }
  return { status: 'ok' }
}

function noCounters(
  { profileSkipped }: RungState,
  status: RungResult['status'],
  level: ProfileLevel,
  profiled: ProfileOutcome | null,
): string {
  if (status !== 'ok') return 'The rung has no time, so it was not profiled.'
  if (level === 'none') return 'Profiling was turned off (--profile none).'
  if (profileSkipped) return 'It was left out of profiling, on request or for its length.'
  if (!profiled) return 'The run ended before it was profiled.'
  return profiled.trouble?.message ?? 'ncu reported no launch of this rung.'
}

export function wrongness(verify: NonNullable<Measured['verify']>): string {
  if (verify.outOfBounds) return 'It writes outside C.'
  const first = verify.firstMismatch
  const place = first
    ? `; the first is C[${first.row}][${first.col}] = ${first.actual ?? 'NaN'}, expected ${first.expected ?? 'NaN'}`
    : ''
  return `${verify.mismatches} elements of C are beyond the error bound${place}.`
}
