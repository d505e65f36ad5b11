/** Runs rungs on a GPU, or replays such a run. The rungs are verified, timed, and profiled. */
import { cacheControl, clockControl } from '../../adapters/tools/ncu'
import { rungFlags } from '../../adapters/tools/nvcc'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import type { ErrorShape } from '../../domain/errors'
import { message, type Statement, together } from '../../domain/messages/message'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { inTurn, isShared } from '../bench/gpu-turn'
import type { Finding, Findings, RungBuild } from './finding'
import { measureRungs } from './measure-rungs'
import { allUnavailable, type ProfileOutcome } from './profile'
import { profileRungs } from './profile-rungs'
import type { Progress } from './progress'
import type { MetricsWithoutCounters } from './rung-result'
import type { RunSettings } from './run-settings'
import { verifyElsewhere } from './verify-elsewhere'
import { warningList } from './warning-list'
import { withProfiles } from './with-profiles'
import type { OpenWay } from './way'
import type { TaskRunner } from './measurement'
import type { Device } from '../../domain/gpu/device'

/** @param reportPath path for ncu's report, or null to discard the report */
export const liveWay =
  (settings: RunSettings, reportPath: string | null): OpenWay =>
  async ({ bench, plan, emit }) => {
    const { device, pciBusId, number } = await bench.gpu()
    emit({ type: 'gpu', device, ceilings: null })
    const runner: TaskRunner = {
      ...{ toolbox: bench.toolbox, runner: await bench.runner(), signal: bench.signal },
      ...{ task: plan.task, taskFolder: plan.taskFolder },
      expected: await bench.oracle(plan, device),
      ...{ seed: settings.seed, cacheState: settings.cacheState },
      idleMs: settings.idleSeconds * 1000,
    }
    const gpu = { device, pciBusId }
    return {
      gpu: device,
      device,
      flags: rungFlags,
      settings: {
        seed: settings.seed,
        cacheState: settings.cacheState,
        profile: plan.profile,
        ...(plan.timing === 'single' ? {} : { timing: plan.timing }),
        clockControl: null,
        cacheControl: null,
        ...(number === null ? {} : { gpu: number }),
      },
      rungs: withBesides(plan),
      warnings: [],
      withoutCounters: withoutCounters(plan, device),
      async examine(builds, progress) {
        const built = await builds.all()
        const turn = {
          ...{ toolbox: bench.toolbox, signal: bench.signal, wait: settings.waitForGpu },
          gpu: { name: device.name, pciBusId },
          onNotice: (notice: Statement) => progress.warn(notice),
        }
        return inTurn(turn, () =>
          examineOnGpu({ runner, plan, gpu, settings, reportPath }, built, progress),
        )
      },
    }
  }

/** Returns the reference, the trusted rung, and the requested rungs, in this order. */
const withBesides = ({ rungs, reference, trusted }: RunPlan): readonly PlannedRung[] =>
  [
    ...new Set([reference, trusted].filter((rung) => rung !== null && !rungs.includes(rung))),
    ...rungs,
  ] as PlannedRung[]

/** Returns metrics that are derived from the launches and replace some of the missing counters. */
const withoutCounters =
  ({ profile }: RunPlan, device: Device): MetricsWithoutCounters =>
  ({ status }, finding) => {
    const why =
      status !== 'ok'
        ? message('records.noTimeNoProfile')
        : profile === 'none'
          ? message('records.profilingOff')
          : (finding?.uncounted ?? message('records.endedBeforeProfile'))
    return {
      ...allUnavailable(profile === 'none' ? 'card' : profile, why),
      ...(finding?.launches ? derivedMetrics(finding.launches, device) : {}),
    }
  }

interface OnGpu {
  runner: TaskRunner
  plan: RunPlan
  gpu: { device: Device; pciBusId: string }
  settings: RunSettings
  reportPath: string | null
}

/** Verifies, times, and profiles the builds while this run has exclusive use of the GPU. */
async function examineOnGpu(
  { runner, plan, gpu, settings, reportPath }: OnGpu,
  built: ReadonlyMap<string, RungBuild>,
  progress: Progress,
): Promise<Findings> {
  const { toolbox, signal } = runner
  const { device, pciBusId } = gpu
  const place = { toolbox, signal, gpu: { name: device.name, pciBusId } }
  const warnings = warningList((warning) => progress.warn(warning))
  const onOutOfTurn = (rung: string): void => warnings.add(message('records.outOfTurn', { rung }))

  const shared = await isShared(place, 'before')
  const measured = await measureRungs(runner, plan, device, built, progress, onOutOfTurn)
  if (shared || (await isShared(place, 'after'))) warnings.add(message('records.gpuShared'))
  if ([...measured.rungs.values()].some(({ timing }) => timing?.gpuMs === null))
    warnings.add(message('records.untraced'))

  const elsewhere = measured.halted
    ? { rungs: measured.rungs, halted: measured.halted }
    : await verifyElsewhere(runner, plan, built, measured.rungs, progress, onOutOfTurn)
  const { halted } = elsewhere
  if (halted)
    warnings.add(message('records.halted', { why: together(halted.message, halted.remedy) }))

  const profiled = halted
    ? null
    : await profileRungs(
        { runner, plan, device, settings, reportPath },
        built,
        elsewhere.rungs,
        progress,
      )
  const { rungs } = elsewhere
  return {
    rungs: profiled ? withProfiles(rungs, profiled.outcome, profiled.skipped, device) : rungs,
    warnings: [
      ...warnings.all,
      ...(profiled ? profileWarnings(profiled.outcome) : []),
      ...referenceWarnings(plan, built, rungs, signal),
    ],
    deep: profiled?.outcome.deep ?? new Map(),
    missing: missingOf(halted, profiled?.outcome ?? null),
    ...(measured.ceilings ? { ceilings: measured.ceilings } : {}),
    ...(profiled
      ? {
          ncu: {
            version: profiled.outcome.ncuVersion,
            settings: {
              ...{ clockControl, cacheControl },
              ...(profiled.skipped.size > 0 ? { profileSkipped: [...profiled.skipped] } : {}),
            },
          },
        }
      : {}),
  }
}

/** Returns warnings about missing counters. */
const profileWarnings = ({
  trouble,
  deepTroubles,
  unknownMetrics,
  ncuVersion,
}: ProfileOutcome): Statement[] => [
  ...(trouble
    ? [message('records.noCounters', { why: together(trouble.message, trouble.remedy) })]
    : []),
  ...deepTroubles,
  ...(unknownMetrics.length > 0 && !trouble
    ? [
        message('records.unknownMetrics', {
          version: ncuVersion ?? '',
          names: unknownMetrics.join(', '),
        }),
      ]
    : []),
]

/** Returns warnings about the reference. If the reference has no time, there are no ratios. */
function referenceWarnings(
  { reference }: RunPlan,
  built: ReadonlyMap<string, RungBuild>,
  rungs: ReadonlyMap<string, Finding>,
  signal: AbortSignal,
): Statement[] {
  if (!reference || signal.aborted) return []
  const { id } = reference.rung
  const [build, finding] = [built.get(id), rungs.get(id)]
  if (finding?.timing != null) return []
  const why = finding?.trouble?.reason ?? build?.outcome?.reason ?? build?.unsupported ?? null
  return [together(message('records.noRatios', { rung: id }), why)]
}

function missingOf(
  halted: ErrorShape | null,
  profiled: Pick<ProfileOutcome, 'trouble'> | null,
): ErrorShape | null {
  const trouble = profiled?.trouble
  if (trouble?.missing)
    return {
      kind: 'missing',
      message: trouble.message,
      ...(trouble.remedy ? { remedy: trouble.remedy } : {}),
    }
  return halted?.kind === 'missing' ? halted : null
}
