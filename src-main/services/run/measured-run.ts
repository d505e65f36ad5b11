/** A run on a GPU: rungs are verified and timed, and their counters collected. A replay is one too. */
import { cacheControl, clockControl } from '../../adapters/tools/ncu'
import { rungFlags } from '../../adapters/tools/nvcc'
import { builtRung } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { RunEvent } from '../../contract'
import { english } from '../../domain/messages/message'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { ErrorShape } from '../../domain/errors'
import type { Session } from '../../domain/session/session'
import { buildRunner } from './build'
import { queryDevice, queryDriver } from './device'
import { inTurn, isShared } from './gpu-turn'
import { measure } from './measure'
import type { RunPlan } from './plan'
import type { ProfileOutcome } from './profile'
import { profileAll } from './profile-stage'
import { toResult, type RungState } from './result'
import { runStages, type Climb, type Run, type RunOutcome } from './stages'
import { verifyFurther } from './verify-further'

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

export const runLadder = (run: Run, settings: RunSettings): Promise<RunOutcome> =>
  runStages(run, async (compiler) => {
    const { environment, plan, signal } = run
    const { toolbox } = environment
    const driver = await queryDriver(toolbox, signal)
    const runner = await buildRunner(compiler, environment.runnerSources)
    const { device, pciBusId } = await queryDevice(toolbox, runner, driver, signal)
    const { reference } = plan
    let profiled: ProfileOutcome | null = null
    return {
      gpu: device,
      device,
      flags: rungFlags,
      settings: {
        seed: settings.seed,
        flushL2: settings.flushL2,
        profile: plan.profile,
        clockControl: null,
        cacheControl: null,
      },
      rungs: reference && !plan.rungs.includes(reference) ? [reference, ...plan.rungs] : plan.rungs,
      warnings: [],
      result: (state) => toResult(state, plan.profile, profiled, device),
      async climb(climb) {
        const onGpu = { runner, device, gpu: { name: device.name, pciBusId } }
        const found = await climbOnGpu(run, settings, onGpu, climb)
        profiled = found.profiled
        tellProfile(climb, profiled)
        tellReference(run, climb)
        return { deep: profiled?.deep ?? new Map(), missing: missingOf(found) }
      },
    }
  })

interface OnGpu {
  runner: string
  device: NonNullable<Session['device']>
  gpu: { name: string; pciBusId: string }
}

interface Found {
  /** Why the runner could not go on. */
  halted: ErrorShape | null
  profiled: ProfileOutcome | null
}

/** Verifies, times and profiles what was built, in this run's turn on the GPU. */
async function climbOnGpu(
  { environment, plan, emit, signal }: Run,
  settings: RunSettings,
  { runner, device, gpu }: OnGpu,
  { session, states, publish }: Climb,
): Promise<Found> {
  const { toolbox } = environment
  const warn = (sentence: string): void => {
    if (session.warnings.includes(sentence)) return
    session.warnings.push(sentence)
    emit({ type: 'log', level: 'warning', message: sentence })
  }
  const work = async (): Promise<Found> => {
    const onOutOfTurn = (rung: string): void => warn(english('records.outOfTurn', { rung }))
    const shared = await isShared({ toolbox, gpu, signal }, 'before')
    const measured = await measureAll(
      { toolbox, runner, plan, settings, states, signal, onOutOfTurn },
      emit,
      publish,
    )
    if (measured.ceilings) session.ceilings = measured.ceilings
    if (shared || (await isShared({ toolbox, gpu, signal }, 'after')))
      warn(english('records.gpuShared'))
    const halted =
      measured.halted ??
      (await verifyFurther({ toolbox, runner, plan, settings, states, signal, onOutOfTurn }))
    if (halted) {
      warn(english('records.halted', { why: whole(halted) }))
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

/** How the counters were collected, and what is missing of them. */
function tellProfile({ session, states }: Climb, profiled: ProfileOutcome | null): void {
  if (!profiled) return
  session.tools.ncu = profiled.ncuVersion
  session.settings.clockControl = clockControl
  session.settings.cacheControl = cacheControl
  const skipped = [...states.values()].filter(({ profileSkipped }) => profileSkipped)
  if (skipped.length > 0)
    session.settings.profileSkipped = skipped.map(({ planned }) => planned.rung.id)
  const { trouble, deepTroubles, unknownMetrics } = profiled
  if (trouble) session.warnings.push(english('records.noCounters', { why: whole(trouble) }))
  session.warnings.push(...deepTroubles)
  if (unknownMetrics.length > 0 && !trouble)
    session.warnings.push(
      `ncu ${profiled.ncuVersion ?? ''} does not know ${unknownMetrics.join(', ')} on this GPU; the other counters were read without.`,
    )
}

/** Without a time of the reference there are no ratios. */
function tellReference({ plan, signal }: Run, { session, states }: Climb): void {
  const id = plan.reference?.rung.id
  if (id === undefined || signal.aborted) return
  const state = states.get(id)
  if (state?.measured?.timing == null)
    session.warnings.push(
      `${english('records.noRatios', { rung: id })} ${referenceTrouble(state)}`.trim(),
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

/** A trouble with its remedy, for a session to keep; what a tool said may have no full stop. */
const whole = ({ message, remedy }: { message: string; remedy?: string | undefined }): string =>
  remedy === undefined ? message : `${message}${/[.!?]$/.test(message) ? '' : '.'} ${remedy}`

const referenceTrouble = (state: RungState | undefined): string =>
  state?.measured?.trouble?.reason ?? state?.build?.reason ?? state?.unsupported ?? ''

interface MeasureStage {
  toolbox: Toolbox
  runner: string
  plan: RunPlan
  settings: RunSettings
  states: ReadonlyMap<string, RungState>
  signal: AbortSignal
  onOutOfTurn: (rung: string) => void
}

async function measureAll(
  { toolbox, runner, plan, settings, states, signal, onOutOfTurn }: MeasureStage,
  emit: (event: RunEvent) => void,
  publish: Climb['publish'],
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
