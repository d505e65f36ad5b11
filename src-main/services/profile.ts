/** Collects counters: one ncu over one runner for all rungs, only the launches that the runner marks. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Toolbox } from '../adapters/toolbox'
import { metricsAtLevel, unavailable, type MetricValue, type ProfileLevel } from '../domain/metrics'
import type { Problem } from '../domain/problem'
import type { Profile } from '../domain/session'
import { parseNcuRawCsv, recognizeNcuFailure, type NcuLaunch } from '../parsers/ncu-csv'
import { toMetrics } from '../parsers/ncu-metrics'
import { parseRunnerLine } from '../parsers/runner-events'
import { remedies } from './device'
import { problemArgs, rungArgs } from './measure'

export interface ProfileRequest {
  toolbox: Toolbox
  runner: string
  problem: Problem
  seed: number
  level: Exclude<ProfileLevel, 'none'>
  rungs: readonly { id: string; artefact: string }[]
  /** Where ncu leaves its own report; null keeps none. */
  reportPath: string | null
  idleMs: number
  signal: AbortSignal
  onStart: (rung: string) => void
  onProfiled: (rung: string) => void
}

export interface ProfileOutcome {
  ncuVersion: string | null
  profiles: Map<string, { profile: Profile; metrics: Record<string, MetricValue> }>
  /** Why counters are missing, when they are: a sentence and what to do. */
  trouble: { message: string; remedy?: string; missing: boolean } | null
}

export const clockControl = 'none'
export const cacheControl = 'all'

const ncuArgs = (level: Exclude<ProfileLevel, 'none'>, reportPath: string | null): string[] => [
  '--metrics',
  // The first name of each metric alone: an alternative would cost a pass.
  [...metricsAtLevel(level).map(({ ncu }) => ncu[0]), 'gpu__time_duration.sum'].join(','),
  '--profile-from-start',
  'off',
  '--nvtx',
  '--clock-control',
  clockControl,
  '--cache-control',
  cacheControl,
  '--csv',
  '--page',
  'raw',
  '--print-units',
  'base',
  '--print-metric-instances',
  'none',
  ...(reportPath ? ['--export', reportPath] : []),
]

/** `Version 2025.3.1.0 (build …)` → `2025.3.1.0`. */
const versionOf = (text: string): string | null => /Version\s+([\d.]+)/.exec(text)?.[1] ?? null

export async function profile(request: ProfileRequest): Promise<ProfileOutcome> {
  const { toolbox, signal } = request
  const none = (trouble: ProfileOutcome['trouble'], ncuVersion: string | null = null) => ({
    ncuVersion,
    profiles: new Map(),
    trouble,
  })
  if (request.rungs.length === 0) return none(null)
  const ncu = await toolbox.locate('ncu')
  if (!ncu) return none({ message: 'ncu was not found.', remedy: remedies.ncu, missing: true })

  const scratch = toolbox.kind === 'live' ? await mkdtemp(join(tmpdir(), 'kernel-ladder-')) : null
  try {
    const version = await toolbox.exec({
      tool: 'ncu',
      key: 'ncu/version',
      file: ncu,
      args: ['--version'],
      timeoutMs: 60_000,
      signal,
    })
    const result = await toolbox.exec({
      tool: 'ncu',
      key: 'ncu/profile',
      file: ncu,
      args: [
        ...ncuArgs(request.level, request.reportPath),
        request.runner,
        'profile',
        ...problemArgs(request.problem, request.seed),
        ...rungArgs(request.rungs),
      ],
      // Of its own, because a lock file that another user left in the shared one stops ncu.
      ...(scratch ? { env: { TMPDIR: scratch } } : {}),
      idleMs: request.idleMs,
      signal,
      onStdoutLine: (line) => {
        const event = parseRunnerLine(line)
        if (event?.event === 'start' && event.stage === 'profile') request.onStart(event.rung)
        if (event?.event === 'profiled') request.onProfiled(event.rung)
      },
    })
    const ncuVersion = versionOf(version.stdout)
    const known = recognizeNcuFailure(`${result.stdout}\n${result.stderr}`, result.exitCode)
    if (result.outcome === 'cancelled') return none(null, ncuVersion)
    if (result.outcome !== 'exited')
      return none(
        {
          message: `ncu did not finish (${result.outcome === 'idle' ? `no progress for ${Math.round(request.idleMs / 1000)} s` : (result.signal ?? result.outcome)}).`,
          missing: false,
        },
        ncuVersion,
      )
    const { launches } = parseNcuRawCsv(result.stdout)
    return {
      ncuVersion,
      profiles: byRung(launches, request),
      trouble: known && {
        message: known.message,
        ...(known.remedy ? { remedy: known.remedy } : {}),
        missing: launches.length === 0,
      },
    }
  } finally {
    if (scratch) await rm(scratch, { recursive: true, force: true })
  }
}

function byRung(launches: readonly NcuLaunch[], request: ProfileRequest) {
  const profiles: ProfileOutcome['profiles'] = new Map()
  for (const { id } of request.rungs) {
    const own = launches.filter(({ rung }) => rung === id)
    if (own.length === 0) continue
    profiles.set(id, {
      profile: {
        passes: Math.max(...own.map(({ passes }) => passes ?? 0)),
        kernels: own.map(({ kernelName, grid, block, passes }) => ({
          name: kernelName,
          grid,
          block,
          passes,
        })),
      },
      metrics: toMetrics(own, request.level),
    })
  }
  return profiles
}

/** Every metric of the level as unavailable, for the one reason. */
export const allUnavailable = (level: ProfileLevel, reason: string): Record<string, MetricValue> =>
  Object.fromEntries(metricsAtLevel(level).map(({ id, unit }) => [id, unavailable(unit, reason)]))
