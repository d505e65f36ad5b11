/**
 * Profiles a run's rungs. Estimates the cost, skips rungs if necessary, and reports the actual
 * cost.
 */
import { builtRung } from '../../adapters/tools/runner'
import { planProfile, type ProfilePlan } from '../../domain/analysis/pass-plan'
import { toErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { RunPlan } from '../../domain/run/plan'
import type { Finding, RungBuild } from './finding'
import { noProfiles, profile, type ProfileEvent, type ProfileOutcome } from './profile'
import type { Progress } from './progress'
import type { RunSettings } from './run-settings'
import type { TaskRunner } from './measurement'
import type { Device } from '../../domain/gpu/device'

interface ProfileStage {
  runner: TaskRunner
  plan: RunPlan
  device: Device
  settings: Pick<RunSettings, 'idleSeconds' | 'busyWaitsMs'>
  /** Path for ncu's report, or null to discard the report. */
  reportPath: string | null
}

interface ProfiledRungs {
  outcome: ProfileOutcome
  /** Rungs that are skipped at the user's request or because they would take too long. */
  skipped: ReadonlySet<string>
}

/**
 * Profiles the rungs. Returns null if no counters were requested or the run was already canceled.
 * Never throws an error, so that the measurements are kept.
 */
export async function profileRungs(
  { runner, plan, device, settings, reportPath }: ProfileStage,
  built: ReadonlyMap<string, RungBuild>,
  findings: ReadonlyMap<string, Finding>,
  progress: Progress,
): Promise<ProfiledRungs | null> {
  if (plan.profile === 'none' || runner.signal.aborted) return null
  const level = plan.profile
  const timed = plan.rungs.flatMap(({ rung }) => {
    const artifact = built.get(rung.id)?.outcome?.artifact
    const { timing, launches, prepared, loadSeconds } = findings.get(rung.id) ?? {}
    if (!timing || !artifact) return []
    return {
      ...builtRung(rung, artifact),
      medianMs: timing.medianMs,
      kernels: launches?.length,
      prepared: prepared && { seconds: prepared.seconds, loadSeconds },
    }
  })
  const cost = planProfile({
    level,
    computeCapability: device.computeCapability,
    rungs: timed,
    skip: plan.profileSkip,
    ...(plan.profileLimitSeconds === undefined ? {} : { limitSeconds: plan.profileLimitSeconds }),
  })
  const skipped = new Set(cost.rungs.filter((rung) => rung.skipped).map(({ id }) => id))
  for (const { id } of timed) if (skipped.has(id)) progress.rung(id, 'profile', 'skipped')
  const rungs = timed.filter(({ id }) => !skipped.has(id))
  // In a replay, profiling takes no time.
  const { replays } = runner.toolbox
  if (!replays) progress.emit({ type: 'profile-plan', plan: cost })
  const step = progress.stage('profile', rungs.length)
  try {
    const what = {
      ...{ level, rungs, reportPath, problem: plan.problem },
      ...{ idleMs: idleMs(settings, cost), busyWaitsMs: settings.busyWaitsMs },
    }
    const outcome = await profile(runner, what, (event) => tell(event, progress, step))
    if (outcome.trouble) progress.warn(outcome.trouble.message)
    if (!replays && outcome.seconds !== null)
      progress.emit({ type: 'profile-cost', cost: actualCost(level, outcome.seconds, outcome) })
    return { outcome, skipped }
  } catch (error) {
    const { message } = toErrorShape(error)
    progress.warn(message)
    return { outcome: noProfiles({ message, missing: false }), skipped }
  }
}

function tell(event: ProfileEvent, progress: Progress, step: () => void): void {
  switch (event.type) {
    case 'busy':
      progress.warn(message('tools.retry', { seconds: Math.ceil(event.waitMs / 1000) }))
      break
    case 'unknown':
      progress.warn(message('tools.askWithout', { names: event.metrics.join(', ') }))
      break
    case 'start':
      progress.rung(event.rung, 'profile', 'running')
      break
    case 'profiled':
      progress.rung(event.rung, 'profile', 'done')
      step()
      break
  }
}

const actualCost = (
  level: ProfilePlan['level'],
  seconds: number,
  { profiles }: ProfileOutcome,
) => ({
  level,
  seconds,
  rungs: [...profiles].map(([id, own]) => ({
    id,
    passes: own.profile.passes,
    seconds: own.profile.seconds ?? null,
  })),
})

/**
 * Returns the time limit for a period with no events. ncu prints nothing between rungs. If ncu is
 * silent, it may just be running many passes of a slow rung.
 */
function idleMs({ idleSeconds }: Pick<RunSettings, 'idleSeconds'>, { rungs }: ProfilePlan): number {
  const slowest = Math.max(0, ...rungs.map(({ seconds }) => seconds ?? 0))
  return 1000 * Math.max(2 * idleSeconds, 5 * slowest)
}
