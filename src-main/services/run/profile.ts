/** Collects counters: one ncu process over one runner for all rungs, profiling only the launches marked by the runner. */
import { setTimeout } from 'node:timers/promises'
import {
  askedMetrics,
  ncuVersion,
  runNcu,
  type CollectingLevel,
  type NcuAnswer,
  type NcuCall,
  type RungProfile,
} from '../../adapters/tools/ncu'
import type { ProcessResult } from '../../adapters/tools/process'
import { profileArgs, type BuiltRung, builtRung } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { message, together, type Statement } from '../../domain/messages/message'
import type { DeepProfiles } from '../../domain/session/deep'
import { metricsAtLevel, unavailable, type MetricValue } from '../../domain/metrics/metrics'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import type { Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { remedies } from './device'
import type { RunEvent } from '../../contract/index'
import { toErrorShape } from '../../domain/errors'
import { planProfile, type ProfilePlan } from '../../domain/analysis/pass-plan'
import type { Device } from '../../domain/gpu/gpu'
import type { RunPlan } from './plan'
import type { BuildOutcome } from './build'
import type { Measured } from './measure'

export interface ProfileRequest {
  toolbox: Toolbox
  runner: string
  task: Task
  problem: Problem
  /** The folder of the files that fill buffers; null in a replay. */
  taskFolder: string | null
  seed: number
  level: CollectingLevel
  rungs: readonly BuiltRung[]
  /** Where to save ncu's report; null discards it. */
  reportPath: string | null
  idleMs: number
  /** Delays before each retry while another tool is using the counters. */
  busyWaitsMs: readonly number[]
  signal: AbortSignal
  onBusy: (waitMs: number) => void
  /** Called when ncu is run again without metrics that it does not know. */
  onUnknown: (metrics: readonly string[]) => void
  onStart: (rung: string) => void
  onProfiled: (rung: string) => void
}

export interface ProfileOutcome {
  ncuVersion: string | null
  profiles: Map<string, RungProfile>
  /** By rung; empty below the deep level. */
  deep: DeepProfiles
  /** What is missing from it. */
  deepTroubles: Statement[]
  /** Metrics that this ncu does not know, by its names; the rest was collected without them. */
  unknownMetrics: string[]
  /** Wall time of ncu; null if it did not finish. */
  seconds: number | null
  /** Why counters are missing, if they are, and the remedy. */
  trouble: { message: Statement; remedy?: Statement; missing: boolean } | null
}

export async function profile(request: ProfileRequest): Promise<ProfileOutcome> {
  const { toolbox, signal, rungs, task, problem, taskFolder, seed } = request
  const none = (
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
  if (rungs.length === 0) return none(null)
  const ncu = await toolbox.locate('ncu')
  if (!ncu)
    return none({
      message: message('doctor.toolMissing', { tool: 'ncu' }),
      remedy: remedies.ncu,
      missing: true,
    })

  const version = await ncuVersion(toolbox, ncu, signal)
  const call: NcuCall = {
    ncu,
    level: request.level,
    command: [
      request.runner,
      ...profileArgs({ task, problem, taskFolder, seed, rungs, ownerPid: toolbox.ownerPid }),
    ],
    reportPath: request.reportPath,
    idleMs: request.idleMs,
    signal,
    onEvent: (event) => {
      if (event.event === 'start' && event.stage === 'profile' && event.rung !== null)
        request.onStart(event.rung)
      if (event.event === 'profiled') request.onProfiled(event.rung)
    },
  }
  const without = new Set<string>()
  const collect = () => collectKnown({ ...call, without }, request)
  let answer = await collect()
  // DCGM samples periodically, so the counters are often free a moment later. A replay has only the last attempt.
  const waits = toolbox.replays ? [] : request.busyWaitsMs
  let tries = 1
  for (const waitMs of waits) {
    if (answer.failure?.kind !== 'counters-busy' || answer.byRung.size > 0 || signal.aborted) break
    request.onBusy(waitMs)
    await setTimeout(waitMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return none(null, version)
    answer = await collect()
    tries += 1
  }
  const { result, byRung, deep, deepTroubles, failure } = answer
  if (result.outcome === 'cancelled') return none(null, version)
  if (result.outcome !== 'exited')
    return none({ message: unfinished(result, request.idleMs), missing: false }, version)
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
 * Runs ncu, and again without metrics that it does not know, because one unknown name prevents all profiling. Each
 * round drops at least one requested name, so this terminates.
 */
async function collectKnown(
  call: NcuCall & { without: Set<string> },
  { toolbox, signal, onUnknown }: ProfileRequest,
): Promise<NcuAnswer> {
  for (;;) {
    const asked = askedMetrics(call)
    const answer = await runNcu(toolbox, call)
    if (answer.byRung.size > 0 || signal.aborted || toolbox.replays) return answer
    for (const name of answer.unknownMetrics) call.without.add(name)
    const left = askedMetrics(call)
    if (left.length === 0 || left.join() === asked.join()) return answer
    onUnknown(answer.unknownMetrics)
  }
}

const unfinished = ({ outcome, signal }: ProcessResult, idleMs: number): Statement =>
  outcome === 'idle'
    ? message('tools.ncuIdle', { seconds: Math.round(idleMs / 1000) })
    : message('tools.ncuUnfinished', { signal: signal ?? outcome })

/** Every metric of the level as unavailable, for a common reason. */
export const allUnavailable = (
  level: ProfileLevel,
  reason: Statement,
): Record<string, MetricValue> =>
  Object.fromEntries(metricsAtLevel(level).map(({ id, unit }) => [id, unavailable(unit, reason)]))

// The profiling stage of a run: its estimated cost, the skipped rungs, and its actual cost.

/** What decides whether a rung is profiled. */
interface ProfiledRung {
  build: BuildOutcome | null
  measured: Measured | null
  /** It was excluded. */
  profileSkipped?: boolean
}

export interface ProfileStage {
  toolbox: Toolbox
  runner: string
  plan: RunPlan
  device: Device
  seed: number
  idleSeconds: number
  busyWaitsMs: readonly number[]
  /** Where to save ncu's report; null discards it. */
  reportPath: string | null
  states: ReadonlyMap<string, ProfiledRung>
  emit: (event: RunEvent) => void
  signal: AbortSignal
}

/** Null if no counters were requested, or the run was cancelled before. */
export async function profileAll(stage: ProfileStage): Promise<ProfileOutcome | null> {
  const { plan, states, emit, signal, toolbox } = stage
  if (plan.profile === 'none' || signal.aborted) return null
  const level = plan.profile
  const timed = plan.rungs.flatMap(({ rung }) => {
    const state = states.get(rung.id)
    const { timing, launches, prepared, loadSeconds } = state?.measured ?? {}
    return timing && state?.build?.artefact
      ? [
          {
            ...builtRung(rung, state.build.artefact),
            medianMs: timing.medianMs,
            kernels: launches?.length,
            prepared: prepared && { seconds: prepared.seconds, loadSeconds },
            state,
          },
        ]
      : []
  })
  const cost = planProfile({
    level,
    computeCapability: stage.device.computeCapability,
    rungs: timed,
    skip: plan.profileSkip,
    ...(plan.profileLimitSeconds === undefined ? {} : { limitSeconds: plan.profileLimitSeconds }),
  })
  const skipped = new Set(cost.rungs.filter((rung) => rung.skipped).map(({ id }) => id))
  for (const { id, state } of timed)
    if (skipped.has(id)) {
      state.profileSkipped = true
      emit({ type: 'rung', rung: id, stage: 'profile', state: 'skipped' })
    }
  const rungs = timed.filter(({ id }) => !skipped.has(id))
  // A replay costs nothing.
  const { replays } = toolbox
  if (!replays) emit({ type: 'profile-plan', plan: cost })

  let done = 0
  const step = (): void => emit({ type: 'stage', stage: 'profile', done, total: rungs.length })
  step()
  try {
    const outcome = await profile({
      toolbox,
      runner: stage.runner,
      task: plan.task,
      problem: plan.problem,
      taskFolder: plan.taskFolder,
      seed: stage.seed,
      level,
      rungs,
      reportPath: stage.reportPath,
      idleMs: idleMs(stage, cost),
      busyWaitsMs: stage.busyWaitsMs,
      signal,
      onBusy: (waitMs) =>
        emit({
          type: 'log',
          level: 'warning',
          message: message('tools.retry', { seconds: Math.ceil(waitMs / 1000) }),
        }),
      onUnknown: (metrics) =>
        emit({
          type: 'log',
          level: 'warning',
          message: message('tools.askWithout', { names: metrics.join(', ') }),
        }),
      onStart: (rung) => emit({ type: 'rung', rung, stage: 'profile', state: 'running' }),
      onProfiled: (rung) => {
        done += 1
        emit({ type: 'rung', rung, stage: 'profile', state: 'done' })
        step()
      },
    })
    if (outcome.trouble) emit({ type: 'log', level: 'warning', message: outcome.trouble.message })
    if (!replays && outcome.seconds !== null)
      emit({
        type: 'profile-cost',
        cost: {
          level,
          seconds: outcome.seconds,
          rungs: [...outcome.profiles].map(([id, own]) => ({
            id,
            passes: own.profile.passes,
            seconds: own.profile.seconds ?? null,
          })),
        },
      })
    return outcome
  } catch (error) {
    // Measurements are kept, whatever happens to the counters.
    const { message } = toErrorShape(error)
    emit({ type: 'log', level: 'warning', message })
    return {
      ncuVersion: null,
      profiles: new Map(),
      deep: new Map(),
      deepTroubles: [],
      unknownMetrics: [],
      seconds: null,
      trouble: { message, missing: false },
    }
  }
}

/** ncu prints nothing between rungs, so a slow rung with many passes is not a hang. */
function idleMs({ idleSeconds }: ProfileStage, { rungs }: ProfilePlan): number {
  const slowest = Math.max(0, ...rungs.map(({ seconds }) => seconds ?? 0))
  return 1000 * Math.max(2 * idleSeconds, 5 * slowest)
}
