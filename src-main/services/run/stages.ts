/**
 * The stages of any kind of run: rungs are built, the kind's own work is done, and the session is assembled. Where
 * the tools' answers come from is up to the machine.
 */
import { nvccRelease } from '../../adapters/tools/nvcc'
import type { RunEvent } from '../../contract'
import type { DeepProfiles } from '../../domain/session/deep'
import type { ErrorShape } from '../../domain/errors'
import type { Device } from '../../domain/gpu/device'
import { isPythonFile } from '../../domain/ladder/rung'
import { message, type Statement } from '../../domain/messages/message'
import type { RungResult, Session } from '../../domain/session/session'
import { sessionSchemaVersion } from '../../domain/session/session'
import { printTarget, type Target } from '../../domain/target/targets'
import type { TaskSource } from '../../adapters/kernels/kernel-library'
import { buildRung, inParallel } from './build'
import { openCompiler, type Bench, type Compiler } from './compiler'
import { architectureFor, smOf } from './device'
import type { PlannedRung, RunPlan } from './plan'
import { refuseImpossible } from './refused-parameters'
import type { RungState } from './result'

export interface RunEnvironment extends Bench {
  /** include/ and runner/ of the kernel library, text by path. */
  includes: ReadonlyMap<string, string>
  runnerSources: ReadonlyMap<string, string>
  /** The reference that results are checked against; null in a replay, whose answers are known. */
  reference: TaskSource | null
  /** Where to save ncu's report; null discards it. */
  reportPath: string | null
  appVersion: string
}

export interface RunIdentity {
  id: string
  createdAt: string
  target: Target
}

export interface RunOutcome {
  session: Session
  /** Deep profiles by rung, stored next to session.json. */
  deep: DeepProfiles
  /** This machine could not provide the requested counters, or lost its GPU during the run. */
  missing: ErrorShape | null
}

export interface Run {
  environment: RunEnvironment
  plan: RunPlan
  identity: RunIdentity
  emit: (event: RunEvent) => void
  signal: AbortSignal
}

/** What has been built, for the following stages. */
export interface BuiltRungs {
  /** The stages add warnings, tools and settings to it as they learn them. */
  session: Session
  /** By rung id. */
  states: ReadonlyMap<string, RungState>
  /** Publishes what is currently known about a rung. */
  publish: (state: RungState) => void
}

/** What distinguishes a kind of run. */
export interface RunWay {
  /** The GPU that rungs are built for. */
  gpu: Pick<Device, 'name' | 'computeCapability'>
  /** The GPU that they run on; null if nothing is run. */
  device: Device | null
  /** By architecture, as in `sm_90a` without the prefix. */
  flags: (sm: string) => readonly string[]
  settings: Omit<Session['settings'], 'nvccFlags'>
  /** The rungs of the plan, and those that are built with them. */
  rungs: readonly PlannedRung[]
  warnings: readonly Statement[]
  /** Examines a rung that was built. */
  onBuilt?: (state: RungState) => Promise<void>
  result: (state: RungState) => RungResult
  /** The work after the build. */
  afterBuild?: (built: BuiltRungs) => Promise<Omit<RunOutcome, 'session'>>
}

/** Throws `missing` if the machine lacks something. */
export type OpenWay = (compiler: Compiler) => Promise<RunWay>

export async function runStages(run: Run, open: OpenWay): Promise<RunOutcome> {
  const { environment, plan, identity, emit, signal } = run
  const started = performance.now()
  emit({
    type: 'started',
    ladder: plan.ladder.id,
    target: printTarget(identity.target),
    task: plan.ladder.task,
    problem: plan.problem,
    rungs: plan.rungs.map(({ rung }) => ({ id: rung.id, title: rung.title })),
  })
  emit({ type: 'stage', stage: 'prepare', done: 0, total: 0 })
  for (const left of plan.parametersLeft ?? [])
    emit({ type: 'log', level: 'warning', message: left })
  const compiler = await openCompiler(environment, environment.includes, signal)
  const way = await open(compiler)
  const states = new Map<string, RungState>(
    way.rungs.map((planned) => [
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
    device: way.device,
    tools: { nvcc: nvccRelease(compiler.version), ncu: null },
    settings: { nvccFlags: [...way.flags(smOf(way.gpu))], ...way.settings },
    completion: 'complete',
    elapsedSeconds: 0,
    warnings: [...(plan.parametersLeft ?? []), ...way.warnings],
    rungs: [],
  }
  const publish = (state: RungState): RungResult => {
    const result = way.result(state)
    if (plan.rungs.includes(state.planned)) emit({ type: 'result', result })
    return result
  }
  await buildAll(compiler, plan, way, [...states.values()], emit, publish)
  refuseImpossible(
    plan,
    new Map([...states].map(([id, { build }]) => [id, build?.diagnostics ?? []])),
  )
  const found = await way.afterBuild?.({ session, states, publish })
  session.rungs = plan.rungs.map(({ rung }) => publish(states.get(rung.id)!))
  session.elapsedSeconds = (performance.now() - started) / 1000
  session.completion = signal.aborted ? 'cancelled' : 'complete'
  return { session, ...(found ?? { deep: new Map(), missing: null }) }
}

async function buildAll(
  compiler: Compiler,
  plan: RunPlan,
  way: RunWay,
  states: readonly RungState[],
  emit: (event: RunEvent) => void,
  publish: (state: RungState) => void,
): Promise<void> {
  let done = 0
  const step = (): void => emit({ type: 'stage', stage: 'build', done, total: states.length })
  step()
  // Long sources first: they mostly take longest, and at the end all would wait for one.
  const longestFirst = [...states].sort(
    (one, other) => other.planned.source.length - one.planned.source.length,
  )
  await inParallel(longestFirst, async (state) => {
    if (compiler.signal.aborted) return
    const { rung } = state.planned
    const architecture =
      way.device === null && isPythonFile(rung.file)
        ? { unsupported: message('records.compiledWhereRun') }
        : architectureFor(rung.header.requires, way.gpu)
    if ('unsupported' in architecture) state.unsupported = architecture.unsupported
    else {
      emit({ type: 'rung', rung: rung.id, stage: 'build', state: 'running' })
      state.build = await buildRung(compiler, plan, state.planned, architecture.sm, way.flags)
      if (state.build.artefact) await way.onBuilt?.(state)
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
