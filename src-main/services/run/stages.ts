/**
 * The stages of a run, of whatever kind: its rungs are built, what the kind does with them is done, and the
 * session is put together. Where the tools' answers come from is the machine's affair.
 */
import { nvccRelease } from '../../adapters/tools/nvcc'
import type { RunEvent } from '../../contract'
import type { DeepProfile } from '../../domain/session/deep'
import type { ErrorShape } from '../../domain/errors'
import { leadOf } from '../../domain/analysis/lead-figure'
import { leastBytes } from '../../domain/task/problem'
import type { Device } from '../../domain/gpu/device'
import type { Statement } from '../../domain/messages/message'
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
  /** What results are checked against; null in a replay, whose answers are known. */
  reference: TaskSource | null
  /** Where ncu's own report is kept; null keeps none. */
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
  /** What the deep level knows, by rung; kept beside session.json. */
  deep: ReadonlyMap<string, DeepProfile>
  /** This machine cannot give the counters that were asked for, or lost its GPU on the way. */
  missing: ErrorShape | null
}

export interface Run {
  environment: RunEnvironment
  plan: RunPlan
  identity: RunIdentity
  emit: (event: RunEvent) => void
  signal: AbortSignal
}

/** What has been built, for the stages behind it. */
export interface BuiltRungs {
  /** Its warnings, tools and settings are told by who finds them out. */
  session: Session
  /** By rung id. */
  states: ReadonlyMap<string, RungState>
  /** Tells what is known of a rung by now. */
  publish: (state: RungState) => void
}

/** What a kind of run does of its own. */
export interface RunWay {
  /** What rungs are built for. */
  gpu: Pick<Device, 'name' | 'computeCapability'>
  /** That they run on; null where nothing is run. */
  device: Device | null
  /** By architecture, as in `sm_90a`, without the prefix. */
  flags: (sm: string) => readonly string[]
  settings: Omit<Session['settings'], 'nvccFlags'>
  /** Those of the plan, and what is built beside them. */
  rungs: readonly PlannedRung[]
  warnings: readonly Statement[]
  /** Finds out what there is to know of a rung that was built. */
  onBuilt?: (state: RungState) => Promise<void>
  result: (state: RungState) => RungResult
  /** What comes after the build. */
  afterBuild?: (built: BuiltRungs) => Promise<Omit<RunOutcome, 'session'>>
}

/** Throws `missing` for what the machine lacks. */
export type OpenWay = (compiler: Compiler) => Promise<RunWay>

/** Decided anew for the session, when its GPU is known. */
const toldByBytes = ({ ladder, task, problem }: RunPlan): number | null =>
  leadOf({ ladder, problem, device: null }).of === 'bytes' ? leastBytes(task, problem) : null

export async function runStages(run: Run, open: OpenWay): Promise<RunOutcome> {
  const { environment, plan, identity, emit, signal } = run
  const started = performance.now()
  emit({
    type: 'started',
    ladder: plan.ladder.id,
    target: printTarget(identity.target),
    problem: plan.problem,
    rungs: plan.rungs.map(({ rung }) => ({ id: rung.id, title: rung.title })),
    bytes: toldByBytes(plan),
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
  await inParallel(states, async (state) => {
    if (compiler.signal.aborted) return
    const { rung } = state.planned
    const architecture = architectureFor(rung.header.requires, way.gpu)
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
