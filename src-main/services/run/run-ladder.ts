/**
 * Climbs a ladder: builds its rungs, verifies and times them, collects counters, and puts together the
 * session. Where the tools' answers come from, this machine or a recording, is the toolbox's affair.
 */
import { isDeepStrictEqual } from 'node:util'
import type { BuildCache } from '../../adapters/disk/build-cache'
import { cacheControl, clockControl } from '../../adapters/tools/ncu'
import { nvccRelease, rungFlags } from '../../adapters/tools/nvcc'
import { builtRung } from '../../adapters/tools/runner'
import type { RawRecorder, Toolbox } from '../../adapters/tools/toolbox'
import type { RunEvent } from '../../contract'
import { message, together, type Statement } from '../../domain/messages/message'
import type { DeepProfile } from '../../domain/session/deep'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { ErrorShape } from '../../domain/errors'
import type { RungResult, Session, Target, Tools } from '../../domain/session/session'
import type { Device } from '../../domain/gpu/device'
import type { Task } from '../../domain/task/task'
import { sessionSchemaVersion } from '../../domain/session/session'
import { buildReference, buildRung, buildRunner, inParallel } from './build'
import { architectureFor, locateNvcc, queryDevice, queryDriver, smOf } from './device'
import { inTurn, isShared } from './gpu-turn'
import { measure } from './measure'
import type { TaskSource } from '../../adapters/kernels/kernel-library'
import type { RunPlan } from './plan'
import { refuseImpossible } from './refused-parameters'
import type { ProfileOutcome } from './profile'
import { profileAll } from './profile-stage'
import { toResult, type RungState } from './result'
import { verifyFurther } from './verify-further'

export interface RunEnvironment {
  toolbox: Toolbox
  cache: BuildCache
  recorder: RawRecorder | null
  /** include/ and runner/ of the kernel library, text by path. */
  includes: ReadonlyMap<string, string>
  runnerSources: ReadonlyMap<string, string>
  /** What results are checked against; null in a replay, whose answers are known. */
  reference: TaskSource | null
  /** Where ncu leaves its own report; null keeps none. */
  reportPath: string | null
  appVersion: string
}

export interface RunIdentity {
  id: string
  createdAt: string
  target: Target
}

export interface RunSettings {
  seed: number
  flushL2: boolean
  /** A rung without news for so long counts as hung. */
  idleSeconds: number
  /** Waits between the tries to profile while another tool holds the counters. */
  busyWaitsMs: readonly number[]
  /** false: a GPU that another run uses is an error, and is not waited for. */
  waitForGpu: boolean
}

export const defaultSettings: RunSettings = {
  seed: 1,
  flushL2: false,
  idleSeconds: 60,
  busyWaitsMs: [3000, 10_000],
  waitForGpu: true,
}

export interface RunOutcome {
  session: Session
  /** What the deep level knows, by rung; kept beside session.json. */
  deep: Map<string, DeepProfile>
  /** This machine cannot give the counters that were asked for, or lost its GPU on the way. */
  missing: ErrorShape | null
}

export async function runLadder(
  environment: RunEnvironment,
  plan: RunPlan,
  identity: RunIdentity,
  settings: RunSettings,
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { toolbox } = environment
  const started = performance.now()
  emit({
    type: 'started',
    ladder: plan.ladder.id,
    target: identity.target.name,
    problem: plan.problem,
    rungs: plan.rungs.map(({ rung }) => ({ id: rung.id, title: rung.title })),
  })
  emit({ type: 'stage', stage: 'prepare', done: 0, total: 0 })

  const nvcc = await locateNvcc(toolbox)
  const driver = await queryDriver(toolbox, signal)
  const version = await compilerVersion(environment, nvcc, signal)
  const compiler = { ...environment, nvcc, version, signal }
  const runner = await buildRunner(compiler, environment.runnerSources)
  const { device, pciBusId } = await queryDevice(toolbox, runner, driver, signal)

  const reference = plan.reference
  const measuredRungs =
    reference && !plan.rungs.includes(reference) ? [reference, ...plan.rungs] : plan.rungs
  const states = new Map<string, RungState>(
    measuredRungs.map((planned) => [
      planned.rung.id,
      { planned, build: null, unsupported: null, measured: null },
    ]),
  )
  const session: Session = {
    schema: sessionSchemaVersion,
    ...identity,
    appVersion: environment.appVersion,
    ladder: plan.ladder,
    problem: plan.problem,
    device,
    tools: { nvcc: nvccRelease(version), ncu: null } satisfies Tools,
    settings: {
      nvccFlags: rungFlags(smOf(device)),
      seed: settings.seed,
      flushL2: settings.flushL2,
      profile: plan.profile,
      clockControl: null,
      cacheControl: null,
    },
    completion: 'complete',
    elapsedSeconds: 0,
    warnings: [],
    rungs: [],
  }
  const referenceLibrary =
    environment.reference &&
    (await buildReference(compiler, plan.task, environment.reference, smOf(device)))
  const publish = (state: RungState, profiled: ProfileOutcome | null = null): RungResult => {
    const result = toResult(state, plan.task, plan.profile, profiled, device)
    if (plan.rungs.includes(state.planned)) emit({ type: 'result', result })
    return result
  }

  await buildAll(compiler, plan.task, [...states.values()], device, emit, publish)
  refuseImpossible(
    plan,
    new Map([...states].map(([id, { build }]) => [id, build?.diagnostics ?? []])),
  )
  const warn = (warning: Statement): void => {
    if (session.warnings.some((known) => isDeepStrictEqual(known, warning))) return
    session.warnings.push(warning)
    emit({ type: 'log', level: 'warning', message: warning })
  }
  const gpu = { name: device.name, pciBusId }
  const onGpu = async (): Promise<{
    halted: ErrorShape | null
    profiled: ProfileOutcome | null
  }> => {
    const onOutOfTurn = (rung: string): void => warn(message('records.outOfTurn', { rung }))
    const shared = await isShared({ toolbox, gpu, signal }, 'before')
    const measured = await measureAll(
      { toolbox, runner, referenceLibrary, plan, settings, states, signal, onOutOfTurn },
      emit,
      publish,
    )
    if (measured.ceilings) session.ceilings = measured.ceilings
    if (shared || (await isShared({ toolbox, gpu, signal }, 'after')))
      warn(message('records.gpuShared'))
    const halted =
      measured.halted ??
      (await verifyFurther({
        toolbox,
        runner,
        referenceLibrary,
        plan,
        settings,
        states,
        signal,
        onOutOfTurn,
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
  const { halted, profiled } = await inTurn(
    {
      toolbox,
      gpu,
      wait: settings.waitForGpu,
      signal,
      onNotice: (message) => emit({ type: 'log', level: 'warning', message }),
    },
    onGpu,
  )

  session.rungs = plan.rungs.map(({ rung }) => publish(states.get(rung.id)!, profiled))
  session.elapsedSeconds = (performance.now() - started) / 1000
  session.completion = signal.aborted ? 'cancelled' : 'complete'
  if (profiled) {
    session.tools.ncu = profiled.ncuVersion
    session.settings.clockControl = clockControl
    session.settings.cacheControl = cacheControl
    const skipped = [...states.values()].filter(({ profileSkipped }) => profileSkipped)
    if (skipped.length > 0)
      session.settings.profileSkipped = skipped.map(({ planned }) => planned.rung.id)
  }
  const trouble = profiled?.trouble ?? null
  if (trouble)
    session.warnings.push(
      message('records.noCounters', {
        why: together(trouble.message, trouble.remedy),
      }),
    )
  session.warnings.push(...(profiled?.deepTroubles ?? []))
  if (profiled && profiled.unknownMetrics.length > 0 && !trouble)
    session.warnings.push(
      message('records.unknownMetrics', {
        version: profiled.ncuVersion ?? '',
        names: profiled.unknownMetrics.join(', '),
      }),
    )
  if (reference && states.get(reference.rung.id)?.measured?.timing == null && !signal.aborted)
    session.warnings.push(
      together(
        message('records.noRatios', { rung: reference.rung.id }),
        referenceTrouble(states.get(reference.rung.id)),
      ),
    )
  return {
    session,
    deep: profiled?.deep ?? new Map(),
    missing: trouble?.missing
      ? {
          kind: 'missing',
          message: trouble.message,
          ...(trouble.remedy ? { remedy: trouble.remedy } : {}),
        }
      : halted?.kind === 'missing'
        ? halted
        : null,
  }
}

export async function compilerVersion(
  { toolbox, cache, recorder }: Pick<RunEnvironment, 'toolbox' | 'cache' | 'recorder'>,
  nvcc: string,
  signal: AbortSignal,
): Promise<string> {
  const call = { tool: 'nvcc', key: 'nvcc/version', file: nvcc, args: ['--version'] } as const
  let asked = false
  const version = await cache.compilerVersion(nvcc, async () => {
    asked = true
    return (await toolbox.exec({ ...call, timeoutMs: 60_000, signal })).stdout
  })
  // Kept with the session in any case, so that the session can be replayed.
  if (!asked)
    await recorder?.record(
      {
        key: call.key,
        tool: call.tool,
        argv: [nvcc, ...call.args],
        outcome: 'exited',
        exitCode: 0,
        signal: null,
        seconds: 0,
        startedAt: new Date().toISOString(),
        reused: true,
      },
      version,
      '',
    )
  return version
}

const referenceTrouble = (state: RungState | undefined): Statement | null =>
  state?.measured?.trouble?.reason ?? state?.build?.reason ?? state?.unsupported ?? null

type Publish = (state: RungState) => RungResult

async function buildAll(
  compiler: Parameters<typeof buildRung>[0],
  task: Task,
  states: readonly RungState[],
  device: Device,
  emit: (event: RunEvent) => void,
  publish: Publish,
): Promise<void> {
  let done = 0
  const step = (): void => emit({ type: 'stage', stage: 'build', done, total: states.length })
  step()
  await inParallel(states, async (state) => {
    if (compiler.signal.aborted) return
    const { rung } = state.planned
    const architecture = architectureFor(rung.header.requires, device)
    if ('unsupported' in architecture) state.unsupported = architecture.unsupported
    else {
      emit({ type: 'rung', rung: rung.id, stage: 'build', state: 'running' })
      state.build = await buildRung(compiler, task, state.planned, architecture.sm)
    }
    if (compiler.signal.aborted) return
    done += 1
    emit({
      type: 'rung',
      rung: rung.id,
      stage: 'build',
      state: state.unsupported ? 'skipped' : state.build?.artefact ? 'done' : 'failed',
      ...(state.build?.build?.cached ? { detail: 'cached' } : {}),
    })
    publish(state)
    step()
  })
}

interface MeasureStage {
  toolbox: Toolbox
  runner: string
  referenceLibrary: string | null
  plan: RunPlan
  settings: RunSettings
  states: ReadonlyMap<string, RungState>
  signal: AbortSignal
  onOutOfTurn: (rung: string) => void
}

async function measureAll(
  { toolbox, runner, referenceLibrary, plan, settings, states, signal, onOutOfTurn }: MeasureStage,
  emit: (event: RunEvent) => void,
  publish: Publish,
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
    referenceLibrary,
    task: plan.task,
    problem: plan.problem,
    rungs: ready,
    reference: plan.reference?.rung.id ?? null,
    seed: settings.seed,
    flushL2: settings.flushL2,
    idleMs: settings.idleSeconds * 1000,
    signal,
    onOutOfTurn,
    onCeilings: (reached) => {
      ceilings = reached
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
