/**
 * Collects counters. One ncu process and one runner profile all rungs. ncu profiles only the
 * launches that the runner marks.
 */
import { setTimeout } from 'node:timers/promises'
import {
  requestedMetrics,
  ncuVersion,
  runNcu,
  type CollectingLevel,
  type NcuAnswer,
  type NcuCall,
  type RungProfile,
} from '../../adapters/tools/ncu'
import type { ProcessResult } from '../../adapters/tools/process'
import { profileArgs, type BuiltRung } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { message, together, type Statement } from '../../domain/messages/message'
import type { DeepProfiles } from '../../domain/session/deep'
import { metricsAtLevel, unavailable, type MetricValue } from '../../domain/metrics/metrics'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import type { Problem } from '../../domain/task/problem'
import { remedies } from '../bench/tools'
import type { TaskRunner } from './measurement'

/** Settings for collecting counters with one runner. */
interface Profiling {
  problem: Problem
  level: CollectingLevel
  rungs: readonly BuiltRung[]
  /** Path for ncu's report, or null to discard the report. */
  reportPath: string | null
  /** If there is no event for this many milliseconds, ncu is considered hung. */
  idleMs: number
  /** Delays in milliseconds before each retry while another tool is using the counters. */
  busyWaitsMs: readonly number[]
}

export type ProfileEvent =
  | { type: 'start'; rung: string }
  | { type: 'profiled'; rung: string }
  /** Another tool is using the counters, so ncu waits. */
  | { type: 'busy'; waitMs: number }
  /** ncu runs again without the metrics that it reported as unknown. */
  | { type: 'unknown'; metrics: readonly string[] }

export interface ProfileOutcome {
  ncuVersion: string | null
  profiles: Map<string, RungProfile>
  /** Deep profiles by rung. Empty unless the profile level is deep. */
  deep: DeepProfiles
  /** Reasons that some deep profiles are missing. */
  deepTroubles: Statement[]
  /**
   * ncu names of the metrics that this ncu version does not know. The other metrics were collected.
   */
  unknownMetrics: string[]
  /** ncu's wall time in seconds, or null if ncu did not finish. */
  seconds: number | null
  /** Reason that counters are missing, and the remedy. Null if no counters are missing. */
  trouble: { message: Statement; remedy?: Statement; missing: boolean } | null
}

export const noProfiles = (
  trouble: ProfileOutcome['trouble'],
  version: string | null = null,
): ProfileOutcome => ({
  ncuVersion: version,
  profiles: new Map(),
  deep: new Map(),
  deepTroubles: [],
  unknownMetrics: [],
  seconds: null,
  trouble,
})

export async function profile(
  { toolbox, runner, task, taskFolder, expected, seed, signal }: TaskRunner,
  what: Profiling,
  tell: (event: ProfileEvent) => void,
): Promise<ProfileOutcome> {
  const { rungs, problem } = what
  if (rungs.length === 0) return noProfiles(null)
  const ncu = await toolbox.locate('ncu')
  if (!ncu)
    return noProfiles({
      message: message('doctor.toolMissing', { tool: 'ncu' }),
      remedy: remedies.ncu,
      missing: true,
    })

  const version = await ncuVersion(toolbox, ncu, signal)
  const call: NcuCall = {
    ncu,
    level: what.level,
    command: [
      runner,
      ...profileArgs({
        ...{ task, problem, taskFolder, expected, seed, rungs },
        ownerPid: toolbox.ownerPid,
      }),
    ],
    reportPath: what.reportPath,
    idleMs: what.idleMs,
    signal,
    onEvent: (event) => {
      if (event.event === 'start' && event.stage === 'profile' && event.rung !== null)
        tell({ type: 'start', rung: event.rung })
      if (event.event === 'profiled') tell({ type: 'profiled', rung: event.rung })
    },
  }
  const without = new Set<string>()
  const collect = () => collectKnown({ ...call, without }, toolbox, tell)
  let answer = await collect()
  // DCGM samples periodically, so the counters are often available again after a moment. A replay
  // contains only the last attempt.
  const waits = toolbox.replays ? [] : what.busyWaitsMs
  let tries = 1
  for (const waitMs of waits) {
    if (answer.failure?.kind !== 'counters-busy' || answer.byRung.size > 0 || signal.aborted) break
    tell({ type: 'busy', waitMs })
    await setTimeout(waitMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return noProfiles(null, version)
    answer = await collect()
    tries += 1
  }
  const { result, byRung, deep, deepTroubles, failure } = answer
  if (result.outcome === 'cancelled') return noProfiles(null, version)
  if (result.outcome !== 'exited')
    return noProfiles({ message: unfinished(result, what.idleMs), missing: false }, version)
  return {
    ncuVersion: version,
    profiles: byRung,
    deep,
    deepTroubles,
    unknownMetrics: [...without],
    seconds: result.seconds,
    trouble: failure && {
      message:
        tries > 1
          ? together(failure.message, message('tools.triedTimes', { count: tries }))
          : failure.message,
      ...(failure.remedy ? { remedy: failure.remedy } : {}),
      missing: byRung.size === 0,
    },
  }
}

/**
 * Runs ncu. If ncu reports unknown metrics, runs it again without them, because a single unknown
 * name prevents all profiling. Each round drops at least one requested name, so the loop
 * terminates.
 */
async function collectKnown(
  call: NcuCall & { without: Set<string> },
  toolbox: Toolbox,
  tell: (event: ProfileEvent) => void,
): Promise<NcuAnswer> {
  for (;;) {
    const wanted = requestedMetrics(call)
    const answer = await runNcu(toolbox, call)
    if (answer.byRung.size > 0 || call.signal?.aborted || toolbox.replays) return answer
    for (const name of answer.unknownMetrics) call.without.add(name)
    const left = requestedMetrics(call)
    if (left.length === 0 || left.join() === wanted.join()) return answer
    tell({ type: 'unknown', metrics: answer.unknownMetrics })
  }
}

const unfinished = ({ outcome, signal }: ProcessResult, idleMs: number): Statement =>
  outcome === 'idle'
    ? message('tools.ncuIdle', { seconds: Math.round(idleMs / 1000) })
    : message('tools.ncuUnfinished', { signal: signal ?? outcome })

/** Marks every metric at the level as unavailable for the same reason. */
export const allUnavailable = (
  level: ProfileLevel,
  reason: Statement,
): Record<string, MetricValue> =>
  Object.fromEntries(metricsAtLevel(level).map(({ id, unit }) => [id, unavailable(unit, reason)]))
