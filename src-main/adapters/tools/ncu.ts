/**
 * Runs ncu. Profiles the launches that a program marks, in a single process, and returns a table by
 * rung.
 */
import { message, type Statement } from '../../domain/messages/message'
import type { DeepProfiles } from '../../domain/session/deep'
import {
  type NcuLaunch,
  parseNcuRawCsv,
  recognizeNcuFailure,
  unknownMetrics,
  type NcuFailure,
} from '../../parsers/ncu/ncu-csv'
import { type ReportProfiles } from '../../parsers/ncu/ncu-deep'
import type { ProcessResult } from './process'
import type { Toolbox, Scratch } from './toolbox'
import { metricsAtLevel, type MetricValue } from '../../domain/metrics/metrics'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import type { Profile } from '../../domain/session/session'
import { toMetrics } from '../../parsers/ncu/ncu-metrics'
import { eventLines, type RunnerEvent } from './runner'
import { launchResources } from '../../parsers/ncu/ncu-launch-resources'
import { readDeepPages } from './ncu-pages'

/** Additional ncu options at the deep level. The `full` set includes the source counters. */
export const deepOptions = ['--set', 'full', '--import-source', 'yes'] as const

export const clockControl = 'none'
export const cacheControl = 'all'

export type CollectingLevel = Exclude<ProfileLevel, 'none'>

export interface NcuCall {
  ncu: string
  level: CollectingLevel
  /** Metrics to omit because this ncu version does not know them, by base name or full name. */
  without?: ReadonlySet<string>
  /** The program and its arguments. */
  command: readonly string[]
  /** Path for ncu's report. If null, the report is discarded. */
  reportPath: string | null
  idleMs: number
  signal: AbortSignal
  /** Receives the runner's events, which arrive on ncu's stdout. */
  onEvent: (event: RunnerEvent) => void
}

export interface RungProfile {
  profile: Profile
  metrics: Record<string, MetricValue>
}

export interface NcuAnswer {
  result: ProcessResult
  /** Profiles, keyed by the launches' NVTX range, which is the rung id. */
  byRung: Map<string, RungProfile>
  /** Instructions and lines by rung, collected only at the deep level. */
  deep: DeepProfiles
  /** Messages about missing parts in the deep profiles. */
  deepTroubles: Statement[]
  failure: NcuFailure | null
  /**
   * ncu's names of the metrics that this ncu version does not know and that prevented profiling.
   */
  unknownMetrics: string[]
}

/**
 * Returns the metrics to request. Requests only the first known name of each metric, because an
 * alternative name would cost another pass.
 */
export function requestedMetrics({ level, without }: Pick<NcuCall, 'level' | 'without'>): string[] {
  const known = (name: string) => !without?.has(name) && !without?.has(baseName(name))
  return [...metricsAtLevel(level).map(({ ncu }) => ncu), ['gpu__time_duration.sum']].flatMap(
    (names) => names.find(known) ?? [],
  )
}

/**
 * Returns the base name, such as `sm__warps_active` for
 * `sm__warps_active.avg.pct_of_peak_sustained_active`.
 */
const baseName = (name: string): string => name.split('.')[0] ?? name

/** Returns the metrics requested in a recorded ncu call. */
export const metricsIn = (argv: readonly string[]): ReadonlySet<string> =>
  new Set(argv[argv.indexOf('--metrics') + 1]?.split(','))

/**
 * Restricts ncu to the runner's process, so that ncu does not wait for child processes that a rung
 * left running. The runner launches every rung itself.
 */
const ownProcess = ['--target-processes', 'application-only']

const ncuArgs = (call: NcuCall): string[] => [
  ...(call.level === 'deep' ? deepOptions : []),
  ...ownProcess,
  '--metrics',
  requestedMetrics(call).join(','),
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
  ...(call.reportPath ? ['--export', call.reportPath] : []),
  ...call.command,
]

/**
 * Returns ncu's version, such as `2025.3.1.0` for `Version 2025.3.1.0 (build …)`. Returns null if
 * the output contains no version.
 */
export async function ncuVersion(
  toolbox: Toolbox,
  ncu: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { stdout } = await toolbox.exec({
    tool: 'ncu',
    key: 'ncu/version',
    file: ncu,
    args: ['--version'],
    timeoutMs: 60_000,
    signal,
  })
  return /Version\s+([\d.]+)/.exec(stdout)?.[1] ?? null
}

/**
 * Returns environment variables that set a private temporary folder. In the system's temporary
 * folder, another user's lock file would stop ncu.
 */
const temporaryIn = (scratch: Scratch | null): Record<string, string> =>
  scratch ? { TMPDIR: scratch.path } : {}

/**
 * Returns a scratch folder, or null if it cannot be created. ncu runs even without the folder, and
 * its error message explains why counters are missing.
 */
const scratchOf = (toolbox: Toolbox): Promise<Scratch | null> => toolbox.scratch().catch(() => null)

/**
 * Profiles the runner's small test kernel and collects one counter. Returns null on success, or the
 * reason for the failure.
 */
export async function probeNcu(
  toolbox: Toolbox,
  ncu: string,
  runner: string,
): Promise<{ message: Statement; remedy?: Statement } | null> {
  const scratch = await scratchOf(toolbox)
  try {
    const result = await toolbox.exec({
      tool: 'ncu',
      key: 'ncu/probe',
      file: ncu,
      args: [
        '--metrics',
        'sm__warps_active.avg.pct_of_peak_sustained_active',
        ...ownProcess,
        ...['--profile-from-start', 'off', '--clock-control', clockControl],
        ...['--csv', '--page', 'raw', '--print-units', 'base', '--print-metric-instances', 'none'],
        ...[runner, 'probe'],
      ],
      env: temporaryIn(scratch),
      timeoutMs: 120_000,
    })
    if (result.outcome === 'timeout') return { message: message('tools.ncuSilent') }
    const failure = recognizeNcuFailure(`${result.stdout}\n${result.stderr}`, result.exitCode)
    if (failure) return failure
    return parseNcuRawCsv(result.stdout).launches.length > 0
      ? null
      : { message: message('tools.ncuNoKernel') }
  } finally {
    await scratch?.remove()
  }
}

export async function runNcu(toolbox: Toolbox, call: NcuCall): Promise<NcuAnswer> {
  const scratch = await scratchOf(toolbox)
  const env = temporaryIn(scratch)
  // The deep pages are printed from the report, so the deep level always needs a report.
  const unkept = call.level === 'deep' && scratch ? `${scratch.path}/profile.ncu-rep` : null
  try {
    // ncu does not overwrite the report from a failed attempt.
    const kept = call.reportPath === null ? null : await toolbox.output(call.reportPath)
    const reportPath = kept?.path ?? unkept
    const seconds = new Map<string, number>()
    const result = await toolbox.exec({
      tool: 'ncu',
      key: 'ncu/profile',
      file: call.ncu,
      args: ncuArgs({ ...call, reportPath }),
      env,
      idleMs: call.idleMs,
      signal: call.signal,
      onStdoutLine: eventLines((event) => {
        if (event.event === 'profiled' && event.seconds != null)
          seconds.set(event.rung, event.seconds)
        call.onEvent(event)
      }),
    })
    const output = `${result.stdout}\n${result.stderr}`
    const { launches } = parseNcuRawCsv(result.stdout)
    const deep =
      call.level === 'deep' &&
      launches.length > 0 &&
      reportPath !== null &&
      result.outcome === 'exited'
        ? await readDeepPages(toolbox, { ...call, env, reportPath }, launches)
        : null
    await kept?.take()
    return {
      result,
      byRung: groupByRung(
        launches,
        call.level,
        seconds,
        deep?.byRung,
        result.argv && metricsIn(result.argv),
      ),
      deep: deep?.byRung ?? new Map(),
      deepTroubles: deep?.troubles ?? [],
      failure: recognizeNcuFailure(output, result.exitCode),
      unknownMetrics: unknownMetrics(output),
    }
  } finally {
    await scratch?.remove()
  }
}

function groupByRung(
  launches: readonly NcuLaunch[],
  level: CollectingLevel,
  seconds: ReadonlyMap<string, number>,
  deep: ReportProfiles | undefined,
  wantedMetrics: ReadonlySet<string> | undefined,
): Map<string, RungProfile> {
  const rungs = new Set(launches.flatMap(({ rung }) => (rung === null ? [] : [rung])))
  return new Map(
    [...rungs].map((rung): [string, RungProfile] => {
      const own = launches.filter((launch) => launch.rung === rung)
      const kernels = own.map((launch) => {
        const { kernelName, grid, block, passes } = launch
        const resources = launchResources(launch)
        return { name: kernelName, grid, block, passes, ...(resources ? { resources } : {}) }
      })
      const passes = Math.max(...own.map((launch) => launch.passes ?? 0))
      const took = seconds.get(rung)
      return [
        rung,
        {
          profile: { passes, ...(took === undefined ? {} : { seconds: took }), kernels },
          metrics: toMetrics(own, level, wantedMetrics, deep?.countedOf(rung)),
        },
      ]
    }),
  )
}
