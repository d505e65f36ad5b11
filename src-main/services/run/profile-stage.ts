/** The profiling stage of a run: its estimated cost, the skipped rungs, and its actual cost. */
import { builtRung } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { RunEvent } from '../../contract'
import { message } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'
import { planProfile, type ProfilePlan } from '../../domain/analysis/pass-plan'
import type { Device } from '../../domain/gpu/gpu'
import type { RunPlan } from './plan'
import { profile, type ProfileOutcome } from './profile'
import type { RungState } from './result'

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
  states: ReadonlyMap<string, RungState>
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
    const medianMs = state?.measured?.timing?.medianMs
    return medianMs !== undefined && state?.build?.artefact
      ? [{ ...builtRung(rung, state.build.artefact), medianMs, state }]
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
