/**
 * The stages of any kind of run: rungs are built, the kind's own work is done, and the session is assembled. Where
 * the tools' answers come from is up to the machine.
 */
import { sha256 } from '../../adapters/disk/build-cache'
import { message, type Statement } from '../../domain/messages/message'
import { derivedMetrics, withSmallWaves } from '../../domain/analysis/derived-metrics'
import type { MetricValue } from '../../domain/metrics/metrics'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import {
  type RungResult,
  type VerifiedAt,
  type Session,
  sessionSchemaVersion,
} from '../../domain/session/session'
import type { Device } from '../../domain/gpu/gpu'
import { bufferTitle, elementPlace, outputsOf, type Task } from '../../domain/task/task'
import {
  type BuildOutcome,
  buildRung,
  inParallel,
  openCompiler,
  type Bench,
  type Compiler,
} from './build'
import type { Measured } from './measure'
import { type PlannedRung, type RunPlan, refuseImpossible } from './plan'
import { allUnavailable, type ProfileOutcome } from './profile'
import { nvccRelease } from '../../adapters/tools/nvcc'
import type { RunEvent } from '../../contract/index'
import type { DeepProfiles } from '../../domain/session/deep'
import type { ErrorShape } from '../../domain/errors'
import { isPythonFile } from '../../domain/ladder/rung'
import { printTarget, type Target } from '../../domain/target/targets'
import type { TaskSource } from '../../adapters/kernels/kernel-library'
import { architectureFor, smOf } from './device'

// Builds a rung's result from what is known at some point of a run.

export interface RungState {
  planned: PlannedRung
  build: BuildOutcome | null
  unsupported: Statement | null
  measured: Measured | null
  /** It was excluded from profiling. */
  profileSkipped?: boolean
  alsoVerified?: VerifiedAt[]
  /** The result of a further problem, if it is decisive. */
  further?: Pick<RungResult, 'status' | 'reason'>
}

/** A rung's description in a session, before anything is done with it. */
export const describedRung = ({ rung, source }: PlannedRung) => ({
  id: rung.id,
  title: rung.title,
  after: rung.header.after,
  idea: rung.header.idea,
  expect: rung.header.expect,
  flags: rung.header.flags,
  params: rung.params,
  file: rung.file,
  sourceHash: sha256(source),
})

/** `profiled` is null while no counters have been collected. */
export function toResult(
  state: RungState,
  task: Task,
  level: ProfileLevel,
  profiled: ProfileOutcome | null,
  device: Device,
): RungResult {
  const { build, measured } = state
  const { rung } = state.planned
  const own = profiled?.profiles.get(rung.id)
  const { status, reason } = statusOf(state, task)
  return {
    ...describedRung(state.planned),
    status,
    ...(reason === undefined ? {} : { reason }),
    diagnostics: build?.diagnostics ?? [],
    build: build?.build ?? null,
    verify: measured?.verify ?? null,
    ...(state.alsoVerified ? { alsoVerified: state.alsoVerified } : {}),
    timing: measured?.timing ?? null,
    ...(measured?.launches ? { launches: measured.launches } : {}),
    ...(measured?.prepared ? { prepared: measured.prepared } : {}),
    profile: own?.profile ?? null,
    metrics: own
      ? withSmallWaves(own.metrics, measured?.launches ?? own.profile.kernels, device)
      : withoutCounters(
          allUnavailable(
            level === 'none' ? 'card' : level,
            noCounters(state, status, level, profiled),
          ),
          measured,
          device,
        ),
  }
}

/** Metrics derived from the launch replace missing counters. */
function withoutCounters(
  metrics: Record<string, MetricValue>,
  measured: Measured | null,
  device: Device,
): Record<string, MetricValue> {
  if (!measured?.launches) return metrics
  return { ...metrics, ...derivedMetrics(measured.launches, device) }
}

/** `ok` unless something failed, and `not-run` before it was measured. */
export function statusOf(
  { build, measured, unsupported, further }: RungState,
  task: Task,
): Pick<RungResult, 'status' | 'reason'> {
  if (unsupported) return { status: 'unsupported', reason: unsupported }
  if (build && !build.artefact && !build.cancelled)
    return { status: 'failed', reason: build.reason ?? message('checks.notCompiled') }
  if (!measured) return { status: 'not-run', reason: message('records.notReached') }
  if (measured.trouble) return measured.trouble
  if (measured.verify && !measured.verify.passed)
    return { status: 'wrong', reason: wrongness(measured.verify, task) }
  return further ?? { status: 'ok' }
}

function noCounters(
  { profileSkipped }: RungState,
  status: RungResult['status'],
  level: ProfileLevel,
  profiled: ProfileOutcome | null,
): Statement {
  if (status !== 'ok') return message('records.noTimeNoProfile')
  if (level === 'none') return message('records.profilingOff')
  if (profileSkipped) return message('records.profilingSkipped')
  if (!profiled) return message('records.endedBeforeProfile')
  return profiled.trouble?.message ?? message('records.noLaunchReported')
}

const titles = (task: Task, buffers: readonly string[]): string =>
  buffers.map((buffer) => bufferTitle(task, buffer)).join(', ')

export function wrongness(verify: NonNullable<Measured['verify']>, task: Task): Statement {
  const { outOfBounds, changedInputs, firstMismatch: first, mismatches: count } = verify
  if (outOfBounds.length > 0)
    return message('records.writesOutside', { buffers: titles(task, outOfBounds) })
  if (changedInputs.length > 0)
    return message('records.changesInputs', { buffers: titles(task, changedInputs) })
  const buffers = titles(task, outputsOf(task))
  if (!first) return message('records.mismatches', { count, buffers })
  return message('records.mismatchesAt', {
    count,
    buffers,
    place: elementPlace(task, first.buffer, first.index),
    actual: first.actual ?? 'NaN',
    expected: first.expected ?? 'NaN',
  })
}

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
