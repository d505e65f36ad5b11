/** A run on a GPU, or its replay: rungs are verified and timed, and their counters collected. */
import { isDeepStrictEqual } from 'node:util'
import type { GpuHolder } from '../../adapters/tools/gpu-lock'
import { askDriver } from '../../adapters/tools/gpus'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { missingError, type ErrorShape } from '../../domain/errors'
import { message, type AnyMessage, type Statement, together } from '../../domain/messages/message'
import { cacheControl, clockControl } from '../../adapters/tools/ncu'
import { rungFlags } from '../../adapters/tools/nvcc'
import { builtRung, type Expected } from '../../adapters/tools/runner'
import type { RunEvent } from '../../contract/index'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { Device } from '../../domain/gpu/gpu'
import { buildReference, buildRunner } from './build'
import { queryDevice, queryDriver, smOf } from './device'
import { measure } from './measure'
import type { PlannedRung, RunPlan } from './plan'
import { type ProfileOutcome, profileAll } from './profile'
import {
  toResult,
  type RungState,
  runStages,
  type BuiltRungs,
  type Run,
  type RunOutcome,
} from './stages'
import { verifyFurther } from './verify-further'
import type { CacheState } from '../../domain/session/session'

// Exclusive use of a GPU for one run: waits for its turn, and notices other programs computing there.

export interface GpuTurn {
  toolbox: Toolbox
  gpu: { name: string; pciBusId: string }
  /** false: throw instead of waiting. */
  wait: boolean
  signal: AbortSignal
  /** Called with the reason for waiting and other notices. */
  onNotice: (notice: Statement) => void
}

function inUse(gpu: GpuTurn['gpu'], by: GpuHolder | null): AnyMessage {
  const named = `${gpu.name} (${gpu.pciBusId})`
  return by
    ? message('tools.gpuInUse', {
        gpu: named,
        pid: String(by.pid),
        user: by.user,
        since: new Date(by.since).toLocaleTimeString('en-GB'),
      })
    : message('tools.gpuInUseBySilent', { gpu: named })
}

/** Runs the work while no other run of this program uses the GPU; a replay needs none. */
export async function inTurn<T>(turn: GpuTurn, work: () => Promise<T>): Promise<T> {
  const { toolbox, gpu, wait, signal, onNotice } = turn
  const claim = await toolbox.claimGpu({
    pciBusId: gpu.pciBusId,
    wait,
    signal,
    onWait: (by) => onNotice(message('tools.waitingForGpu', { why: inUse(gpu, by) })),
  })
  if (claim.state === 'taken')
    throw missingError(inUse(gpu, claim.by), message('tools.waitYourself'))
  if (claim.state === 'unavailable')
    onNotice(message('tools.gpuNotReserved', { gpu: gpu.name, text: claim.reason }))
  try {
    // If cancelled while waiting, the work notices that itself, and what had finished is kept.
    return await work()
  } finally {
    if (claim.state === 'held') claim.lock.release()
  }
}

/** Whether the driver lists a program computing on the GPU; ours must have ended by then. */
export async function isShared(
  { toolbox, gpu, signal }: Pick<GpuTurn, 'toolbox' | 'gpu' | 'signal'>,
  when: 'before' | 'after',
): Promise<boolean> {
  try {
    const asked = await askDriver(toolbox, signal, when)
    const own = asked?.answer?.gpus.find(({ pciBusId }) => pciBusId === gpu.pciBusId)
    return (own?.computing ?? 0) > 0
  } catch {
    // A driver error here is no reason to lose a timing.
    return false
  }
}

export interface RunSettings {
  seed: number
  /** What L2 is to hold when a launch is timed. */
  cacheState: CacheState
  /** A rung counts as hung after this long without an event. */
  idleSeconds: number
  /** Delays between profiling attempts while another tool is using the counters. */
  busyWaitsMs: readonly number[]
  /** false: if another run is using the GPU, throw instead of waiting. */
  waitForGpu: boolean
  /** Counts from 0 among the visible GPUs; CUDA's first if absent. */
  gpu?: number
}

export const defaultSettings: RunSettings = {
  seed: 1,
  cacheState: 'cold',
  idleSeconds: 60,
  busyWaitsMs: [3000, 10_000],
  waitForGpu: true,
}

export const runLadder = (run: Run, settings: RunSettings): Promise<RunOutcome> =>
  runStages(run, async (compiler) => {
    const { environment, plan, signal } = run
    const { toolbox } = environment
    const driver = await queryDriver(toolbox, signal)
    const runner = await buildRunner(compiler, environment.runnerSources)
    const { device, pciBusId, number } = await queryDevice(toolbox, runner, driver, signal)
    run.emit({ type: 'gpu', device, ceilings: null })
    const { trusted } = plan
    const expected: Expected | null = trusted
      ? { rung: trusted.rung.id }
      : environment.reference && {
          library: await buildReference(compiler, plan, environment.reference, smOf(device)),
          shown: environment.reference.shown ?? environment.reference.file,
        }
    let profiled: ProfileOutcome | null = null
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
      result: (state) => toResult(state, plan.task, plan.profile, profiled, device),
      async afterBuild(built) {
        const onGpu = { runner, expected, device, gpu: { name: device.name, pciBusId } }
        const found = await workOnGpu(run, settings, onGpu, built)
        profiled = found.profiled
        tellProfile(built, profiled)
        tellReference(run, built)
        return { deep: profiled?.deep ?? new Map(), missing: missingOf(found) }
      },
    }
  })

/** The reference and the trusted rung, followed by the requested rungs. */
const withBesides = ({ rungs, reference, trusted }: RunPlan): readonly PlannedRung[] =>
  [
    ...new Set([reference, trusted].filter((rung) => rung !== null && !rungs.includes(rung))),
    ...rungs,
  ] as PlannedRung[]

interface OnGpu {
  runner: string
  expected: Expected | null
  device: Device
  gpu: { name: string; pciBusId: string }
}

interface Found {
  /** Why the runner could not continue. */
  halted: ErrorShape | null
  profiled: ProfileOutcome | null
}

/** Verifies, times and profiles what was built, during this run's turn on the GPU. */
async function workOnGpu(
  { environment, plan, emit, signal }: Run,
  settings: RunSettings,
  { runner, expected, device, gpu }: OnGpu,
  { session, states, publish }: BuiltRungs,
): Promise<Found> {
  const { toolbox } = environment
  const warn = (warning: Statement): void => {
    if (session.warnings.some((known) => isDeepStrictEqual(known, warning))) return
    session.warnings.push(warning)
    emit({ type: 'log', level: 'warning', message: warning })
  }
  const work = async (): Promise<Found> => {
    const onOutOfTurn = (rung: string): void => warn(message('records.outOfTurn', { rung }))
    const shared = await isShared({ toolbox, gpu, signal }, 'before')
    const measured = await measureAll(
      { toolbox, device, runner, expected, plan, settings, states, signal, onOutOfTurn },
      emit,
      publish,
    )
    if (measured.ceilings) session.ceilings = measured.ceilings
    if (shared || (await isShared({ toolbox, gpu, signal }, 'after')))
      warn(message('records.gpuShared'))
    if ([...states.values()].some(({ measured: found }) => found?.timing?.gpuMs === null))
      warn(message('records.untraced'))
    const halted =
      measured.halted ??
      (await verifyFurther({
        toolbox,
        runner,
        expected,
        plan,
        settings,
        states,
        signal,
        onOutOfTurn,
        onStart: (notice) => {
          // A replay takes no time.
          if (!toolbox.replays) emit({ type: 'log', level: 'info', message: notice })
        },
      }))
    if (halted) {
      warn(message('records.halted', { why: together(halted.message, halted.remedy) }))
      return { halted, profiled: null }
    }
    const profiled = await profileAll({
      toolbox,
      runner,
      plan,
      device,
      seed: settings.seed,
      idleSeconds: settings.idleSeconds,
      busyWaitsMs: settings.busyWaitsMs,
      reportPath: environment.reportPath,
      states,
      emit,
      signal,
    })
    return { halted, profiled }
  }
  return inTurn(
    {
      toolbox,
      gpu,
      wait: settings.waitForGpu,
      signal,
      onNotice: (message) => emit({ type: 'log', level: 'warning', message }),
    },
    work,
  )
}

/** Records how the counters were collected, and what is missing. */
function tellProfile({ session, states }: BuiltRungs, profiled: ProfileOutcome | null): void {
  if (!profiled) return
  session.tools.ncu = profiled.ncuVersion
  session.settings.clockControl = clockControl
  session.settings.cacheControl = cacheControl
  const skipped = [...states.values()].filter(({ profileSkipped }) => profileSkipped)
  if (skipped.length > 0)
    session.settings.profileSkipped = skipped.map(({ planned }) => planned.rung.id)
  const { trouble, deepTroubles, unknownMetrics } = profiled
  if (trouble)
    session.warnings.push(
      message('records.noCounters', { why: together(trouble.message, trouble.remedy) }),
    )
  session.warnings.push(...deepTroubles)
  if (unknownMetrics.length > 0 && !trouble)
    session.warnings.push(
      message('records.unknownMetrics', {
        version: profiled.ncuVersion ?? '',
        names: unknownMetrics.join(', '),
      }),
    )
}

/** Without a time for the reference, there are no ratios. */
function tellReference({ plan, signal }: Run, { session, states }: BuiltRungs): void {
  const id = plan.reference?.rung.id
  if (id === undefined || signal.aborted) return
  const state = states.get(id)
  if (state?.measured?.timing == null)
    session.warnings.push(
      together(message('records.noRatios', { rung: id }), referenceTrouble(state)),
    )
}

function missingOf({ halted, profiled }: Found): ErrorShape | null {
  const trouble = profiled?.trouble
  if (trouble?.missing)
    return {
      kind: 'missing',
      message: trouble.message,
      ...(trouble.remedy ? { remedy: trouble.remedy } : {}),
    }
  return halted?.kind === 'missing' ? halted : null
}

const referenceTrouble = (state: RungState | undefined): Statement | null =>
  state?.measured?.trouble?.reason ?? state?.build?.reason ?? state?.unsupported ?? null

interface MeasureStage {
  toolbox: Toolbox
  device: Device
  runner: string
  expected: Expected | null
  plan: RunPlan
  settings: RunSettings
  states: ReadonlyMap<string, RungState>
  signal: AbortSignal
  onOutOfTurn: (rung: string) => void
}

async function measureAll(
  { toolbox, device, runner, expected, plan, settings, states, signal, onOutOfTurn }: MeasureStage,
  emit: (event: RunEvent) => void,
  publish: BuiltRungs['publish'],
): Promise<{ ceilings: Ceilings | null; halted: ErrorShape | null }> {
  let ceilings: Ceilings | null = null
  const ready = [...states.values()].flatMap(({ planned, build }) =>
    build?.artefact ? [builtRung(planned.rung, build.artefact)] : [],
  )
  let done = 0
  const step = (): void => emit({ type: 'stage', stage: 'measure', done, total: ready.length })
  step()
  const { halted } = await measure({
    toolbox,
    runner,
    expected,
    taskFolder: plan.taskFolder,
    task: plan.task,
    problem: plan.problem,
    rungs: ready,
    reference: plan.reference?.rung.id ?? null,
    seed: settings.seed,
    cacheState: settings.cacheState,
    bursts: plan.timing === 'burst' || plan.timing === 'all',
    sustained: plan.timing === 'sustained' || plan.timing === 'all',
    idleMs: settings.idleSeconds * 1000,
    signal,
    onOutOfTurn,
    onCeilings: (reached) => {
      ceilings = reached
      emit({ type: 'gpu', device, ceilings })
    },
    onStart: (rung, stage) => {
      if (stage === 'verify' || stage === 'time')
        emit({ type: 'rung', rung, stage, state: 'running' })
    },
    onVerified: (rung) => {
      emit({ type: 'rung', rung, stage: 'verify', state: 'done' })
    },
    onMeasured: (rung, measured) => {
      const state = states.get(rung)
      if (!state) return
      state.measured = measured
      done += 1
      emit({
        type: 'rung',
        rung,
        stage: measured.timing ? 'time' : 'verify',
        state: measured.timing
          ? 'done'
          : measured.trouble && measured.trouble.status !== 'failed'
            ? 'skipped'
            : 'failed',
      })
      publish(state)
      step()
    },
  })
  return { ceilings, halted }
}
