/**
 * A run on the emulated GPU: rungs are built, what all will take is announced, then they
 * are executed, their results checked and their counts kept instruction by instruction. Nothing is timed.
 */
import { availableParallelism } from 'node:os'
import { emulatorPool } from '../../adapters/emulator/pool'
import { staticRungFlags } from '../../adapters/tools/nvcc'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import { faultReason, printedLines } from '../../domain/emulation/findings'
import type { Counts } from '../../domain/emulator/warp'
import { inputError, KernelLadderError } from '../../domain/errors'
import type { BuildGpu } from '../../domain/gpu/gpu'
import { message, type AnyMessage, type Statement } from '../../domain/messages/message'
import type { DeepProfile } from '../../domain/session/deep'
import type { RungResult, VerifiedAt } from '../../domain/session/session'
import { named, type Case, type Problem } from '../../domain/task/problem'
import { countedRung, notEmulated, type CountedRung } from './counters'
import {
  buildLaunchProbe,
  buildReference,
  inParallel,
  type BuildOutcome,
  type Compiler,
} from './build'
import { smOf } from './device'
import { estimate, execute, faultsOf, readyRung, type ReadyRung } from './emulate'
import {
  expectedOf,
  sharedExpectations,
  trustedExpectation,
  verified,
  type Expectation,
} from './emulated-expectation'
import type { Measured } from './measure'
import type { PlannedRung, RunPlan } from './plan'
import {
  millions,
  openTools,
  PreparedRungs,
  requireFitting,
  type EmulationTools,
} from './prepared-rungs'
import { allUnavailable } from './profile'
import {
  describedRung,
  statusOf,
  wrongness,
  type RungState,
  runStages,
  type BuiltRungs,
  type Run,
  type RunOutcome,
  type RunWay,
} from './stages'

/** How often a rung that takes long says how far it is. */
const progressMs = 10_000

/** A further problem that takes more is left out. */
const mostFurther = 5e7

export interface EmulationSettings {
  seed: number
  /**
   * The problem whose launches, occupancy and waves are told; the plan's own by default. Host code knows the size, so
   * launches of the rungs in `verified` count only if they compute the right result there.
   */
  launchesAt?: { problem: Problem; verified: readonly string[] } | null
  /** The problem that the plan's was made of by halving its sizes. */
  shrunkFrom?: Problem | null
}

export async function emulateLadder(
  run: Run,
  gpu: BuildGpu,
  probeSources: ReadonlyMap<string, string>,
  { seed, launchesAt = null, shrunkFrom = null }: EmulationSettings,
): Promise<RunOutcome> {
  const { environment, plan, signal } = run
  requireFitting(plan)
  const pool = emulatorPool(signal, { start: environment.toolbox.startEmulator })
  const open = (compiler: Compiler): RunWay => {
    const bench = {
      ...{ toolbox: compiler.toolbox, pool, task: plan.task, taskFolder: plan.taskFolder },
      ...{ gpu, seed, signal },
    }
    // Both are built beside the first rungs.
    const probe = buildLaunchProbe(compiler, { ...environment, probeSources })
    const library =
      plan.trusted === null && environment.reference
        ? buildReference(compiler, plan, environment.reference, smOf(gpu), staticRungFlags)
        : Promise.resolve(null)
    const prepared = new PreparedRungs(run, openTools(probe, library, bench), bench)
    const found = new Map<string, CountedRung>()
    return {
      gpu,
      device: null,
      flags: staticRungFlags,
      settings: {
        seed,
        profile: 'deep',
        clockControl: null,
        cacheControl: null,
      },
      rungs: withTrusted(plan),
      warnings: [
        ...(gpu.computeCapability === '9.0'
          ? []
          : [
              message('emulation.otherArchitecture', {
                computeCapability: gpu.computeCapability,
              }),
            ]),
        ...(shrunkFrom
          ? [
              message('emulation.shrunk', {
                at: named(plan.problem.sizes),
                from: named(shrunkFrom.sizes),
              }),
            ]
          : []),
      ],
      onBuilt: (state) => prepared.add(state),
      async afterBuild(built) {
        const nothing = { deep: new Map<string, DeepProfile>(), missing: null }
        if (signal.aborted) return nothing
        const tools = await prepared.tools
        prepared.announce()
        const rungs = new EmulatedRungs(run, tools, prepared, built, found, launchesAt)
        return { ...nothing, deep: await rungs.all() }
      },
      result: (state) => resultOf(state, plan, found.get(state.planned.rung.id), gpu),
    }
  }
  try {
    return await runStages(run, (compiler) => Promise.resolve(open(compiler)))
  } finally {
    await pool.close()
  }
}

const withTrusted = ({ rungs, trusted }: RunPlan): PlannedRung[] =>
  trusted && !rungs.includes(trusted) ? [trusted, ...rungs] : rungs

function resultOf(
  state: RungState,
  { task }: RunPlan,
  emulated: CountedRung | undefined,
  gpu: BuildGpu,
): RungResult {
  const { build, measured, planned } = state
  const { status, reason } = statusOf(state, task)
  const launches = emulated?.launches
  const none = allUnavailable('deep', status === 'ok' ? notEmulated : (reason ?? notEmulated))
  return {
    ...describedRung(planned),
    status,
    ...(reason === undefined ? {} : { reason }),
    diagnostics: build?.diagnostics ?? [],
    build: build?.build ?? null,
    verify: measured?.verify ?? null,
    ...(state.alsoVerified ? { alsoVerified: state.alsoVerified } : {}),
    timing: null,
    ...(launches ? { launches } : {}),
    profile: emulated
      ? { passes: 0, kernels: emulated.launches.map((launch) => ({ ...launch, passes: null })) }
      : null,
    metrics: {
      ...none,
      ...emulated?.metrics,
      ...(emulated ? derivedMetrics([emulated.longest], gpu) : {}),
    },
  }
}

class EmulatedRungs {
  private readonly bench
  private readonly expectations
  private readonly deep = new Map<string, DeepProfile>()

  constructor(
    private readonly run: Run,
    private readonly tools: EmulationTools,
    private readonly prepared: PreparedRungs,
    private readonly built: BuiltRungs,
    private readonly found: Map<string, CountedRung>,
    private readonly launchesAt: EmulationSettings['launchesAt'],
  ) {
    this.bench = tools.bench
    this.expectations = sharedExpectations((own) => this.expect(own))
  }

  async all(): Promise<Map<string, DeepProfile>> {
    const { plan, emit, signal } = this.run
    const { ready, estimates } = this.prepared
    let done = 0
    const step = (): void => emit({ type: 'stage', stage: 'measure', done, total: ready.size })
    step()
    let from: Statement | null = null
    await inParallel([...ready.values()], async (rung) => {
      if (signal.aborted) return
      emit({ type: 'rung', rung: rung.id, stage: 'verify', state: 'running' })
      const expected = await this.expectations(rung.own)
      from ??= expected.from
      const measured = await this.one(rung, expected, estimates.get(rung.id)!)
      const state = this.built.states.get(rung.id)!
      state.measured = measured
      await this.further(state, rung)
      done += 1
      emit({
        ...{ type: 'rung', rung: rung.id, stage: 'verify' },
        state: measured.verify?.passed ? 'done' : 'failed',
      })
      this.built.publish(state)
      step()
    }).catch((error: unknown) => {
      // What was finished before a cancellation is kept.
      if (!(error instanceof KernelLadderError && error.kind === 'cancelled')) throw error
    })
    if (from)
      this.built.session.warnings.push(
        message('emulation.about', {
          gpu: this.bench.gpu.name,
          at: named(plan.problem.sizes),
          reference: from,
        }),
      )
    return this.deep
  }

  private async expect(own: Case): Promise<Expectation> {
    const { trusted } = this.run.plan
    const { library } = this.tools
    if (library !== null) {
      const buffers = await this.prepared.fills(own, this.run.plan.task.id, 0)
      if ('key' in buffers) throw inputError(buffers, message('asked.smallerWith'))
      return expectedOf(this.bench, library, own, buffers)
    }
    const state = trusted && this.built.states.get(trusted.rung.id)
    const failed = (): KernelLadderError =>
      new KernelLadderError(
        'failed',
        message('records.trustedFailed', { rung: trusted?.rung.id ?? '' }),
      )
    if (!trusted || !state?.build?.artefact) throw failed()
    const { rung } = trusted
    const ready = await readyRung(this.bench, this.prepared.fills, rung, state.build, own)
    if ('reason' in ready) throw failed()
    const answer = await execute(this.bench, ready, { estimated: Infinity })
    if (answer.stop) throw failed()
    return trustedExpectation(this.run.plan.task, ready, answer)
  }

  /** Executes a rung; at the run's own problem, `estimated` is known and its counts are kept. */
  private async one(
    rung: ReadyRung,
    expected: Expectation,
    estimated: number,
    keeps = true,
  ): Promise<Measured> {
    const { task } = this.run.plan
    // Where rungs are fewer than threads, the blocks of one are shared among several.
    const threads = Math.floor(availableParallelism() / this.prepared.ready.size)
    const onProgress = this.progressOf(rung.id, estimated)
    const answer = await execute(this.bench, rung, { estimated, threads, onProgress })
    if (keeps)
      for (const said of printedLines(rung.id, answer, rung.places))
        this.run.emit({ type: 'log', level: 'info', message: said })
    const { records, stop } = faultsOf(answer, rung)
    const fault = faultReason(records.map(({ record }) => record)) ?? stop
    if (fault !== null)
      return { verify: null, timing: null, trouble: { status: 'failed', reason: fault } }
    if (keeps && answer.kernels.some(({ readsClock }) => readsClock))
      this.built.session.warnings.push(message('emulation.clock', { rung: rung.id }))
    if (keeps) {
      const counts = answer.kernels.map((kernel) => kernel.counts)
      const wrong = await this.keep(rung, counts)
      if (wrong) return { verify: null, timing: null, trouble: { status: 'failed', reason: wrong } }
    }
    return { verify: verified(task, rung, answer, expected), timing: null }
  }

  /** Says every ten seconds how far a rung is. */
  private progressOf(rung: string, estimated: number): (instructions: number) => void {
    let said = performance.now()
    return (instructions) => {
      if (performance.now() - said < progressMs) return
      said = performance.now()
      const done = millions(instructions)
      this.run.emit({
        ...{ type: 'log', level: 'info' },
        message: Number.isFinite(estimated)
          ? message('emulation.progress', { rung, done, total: millions(estimated) })
          : message('emulation.progressOpen', { rung, done }),
      })
    }
  }

  /** Keeps what it launches and counts, or returns why its launches do not count. */
  private async keep(rung: ReadyRung, counts: readonly Counts[]): Promise<Statement | null> {
    const { planned, build } = this.built.states.get(rung.id)!
    const built = build!
    const told = await this.told(rung, planned, built)
    if ('key' in told) return told
    const counted = countedRung(rung, built, counts, told.launched)
    this.deep.set(rung.id, counted.deep)
    this.found.set(rung.id, counted)
    return null
  }

  private async told(
    rung: ReadyRung,
    planned: PlannedRung,
    built: BuildOutcome,
  ): Promise<Pick<ReadyRung, 'launched'> | AnyMessage> {
    if (!this.launchesAt) return rung
    const { problem, verified: toVerify } = this.launchesAt
    const verifies = toVerify.includes(rung.id)
    const fills = verifies ? this.prepared.fills : () => Promise.resolve([])
    const there = await readyRung(this.bench, fills, planned.rung, built, problem)
    if (!verifies) return 'reason' in there ? rung : there
    const wrong = (why: Statement): AnyMessage =>
      message('records.wrongAt', { at: named({ ...problem.sizes, ...problem.scalars }), why })
    if ('reason' in there) return wrong(there.reason)
    const expected = await this.expectations(there.own)
    const estimated = await estimate(this.bench, there)
    const { verify, trouble } = await this.one(there, expected, estimated, false)
    if (trouble) return wrong(trouble.reason)
    return verify?.passed ? there : wrong(wrongness(verify!, this.run.plan.task))
  }

  /** Verifies a rung at the plan's further problems. */
  private async further(state: RungState, rung: ReadyRung): Promise<void> {
    const { plan, signal } = this.run
    if (!plan.alsoVerify?.rungs.includes(rung.id) || !state.build?.artefact) return
    state.alsoVerified = []
    for (const problem of plan.alsoVerify.problems) {
      if (signal.aborted) return
      const found = await this.at(state, problem)
      if (found === null) continue
      state.alsoVerified.push(found)
      if (found.reason === undefined || !plan.alsoVerify.decides || state.further) continue
      state.further = {
        status: found.verify ? 'wrong' : 'failed',
        reason: message('records.wrongAt', {
          at: named({ ...problem.sizes, ...problem.scalars }),
          why: found.reason,
        }),
      }
    }
  }

  /** null where it would take too long; the session says so. */
  private async at({ planned, build }: RungState, problem: Problem): Promise<VerifiedAt | null> {
    const { task } = this.run.plan
    const ready = await readyRung(this.bench, this.prepared.fills, planned.rung, build!, problem)
    if ('reason' in ready) return { problem, verify: null, reason: ready.reason }
    const estimated = await estimate(this.bench, ready)
    if (Number.isFinite(estimated) && estimated > mostFurther) {
      const { warnings } = this.built.session
      const skipped = message('emulation.notVerifiedAt', {
        at: named(problem.sizes),
        rung: ready.id,
        instructions: millions(estimated),
      })
      warnings.push(skipped)
      return null
    }
    const expected = await this.expectations(ready.own)
    const { verify, trouble } = await this.one(ready, expected, estimated, false)
    if (trouble) return { problem, verify: null, reason: trouble.reason }
    return {
      problem,
      verify,
      ...(verify && !verify.passed ? { reason: wrongness(verify, task) } : {}),
    }
  }
}
