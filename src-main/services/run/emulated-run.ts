/**
 * A run on the emulated GPU: rungs are built, what each will take is estimated from one block and announced, then all
 * are executed, their results checked and their counts kept instruction by instruction. Nothing is timed.
 */
import { availableParallelism } from 'node:os'
import { emulatorPool } from '../../adapters/emulator/pool'
import { staticRungFlags } from '../../adapters/tools/nvcc'
import type { NotLaunched } from '../../adapters/tools/runner'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import { faultReason, printedLines } from '../../domain/emulation/findings'
import type { Counts } from '../../domain/emulator/site'
import { shrunk, workOf } from '../../domain/emulation/size'
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import type { BuildGpu } from '../../domain/gpu/gpu'
import { message, type Statement } from '../../domain/messages/message'
import type { DeepProfile } from '../../domain/session/deep'
import type { RungResult, VerifiedAt } from '../../domain/session/session'
import { named, type Case, type Problem } from '../../domain/task/problem'
import { countedRung, notEmulated, type CountedRung } from './counters'
import { buildLaunchProbe, buildReference, inParallel } from './build'
import { smOf } from './device'
import {
  estimate,
  execute,
  expectedOf,
  faultsOf,
  memoryBytes,
  memoryOf,
  readyRung,
  sharedExpectations,
  sharedFills,
  trustedExpectation,
  verified,
  type EmulationBench,
  type Expectation,
  type ReadyRung,
} from './emulate'
import type { Measured } from './measure'
import type { PlannedRung, RunPlan } from './plan'
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
} from './stages'

/** A rung that takes more, some ten minutes on one thread, is refused. */
const mostInstructions = 4e9

/** A further problem that takes more is left out. */
const mostFurther = 5e7

/** Of one thread, as docs/EMULATION.md has it; for the announcement alone. */
const instructionsPerSecond = 8e6

const millions = (count: number): number => Math.max(1, Math.round(count / 1e6))

export interface EmulationSettings {
  seed: number
  /** The problem whose launches, occupancy and waves are told; the plan's own by default. */
  launchesAt?: Problem | null
}

export const emulateLadder = (
  run: Run,
  gpu: BuildGpu,
  probeSources: ReadonlyMap<string, string>,
  { seed, launchesAt = null }: EmulationSettings,
): Promise<RunOutcome> =>
  runStages(run, async (compiler) => {
    const { environment, plan } = run
    const probe = await buildLaunchProbe(compiler, { ...environment, probeSources })
    if ('reason' in probe) throw missingError(probe.reason, message('tools.hostCompiler'))
    const library =
      plan.trusted === null && environment.reference
        ? await buildReference(compiler, plan, environment.reference, smOf(gpu), staticRungFlags)
        : null
    const found = new Map<string, CountedRung>()
    return {
      gpu,
      device: null,
      flags: staticRungFlags,
      settings: {
        seed,
        flushL2: false,
        profile: 'deep',
        clockControl: null,
        cacheControl: null,
      },
      rungs: withTrusted(plan),
      warnings:
        gpu.computeCapability === '9.0'
          ? []
          : [
              message('emulation.otherArchitecture', {
                computeCapability: gpu.computeCapability,
              }),
            ],
      async afterBuild(built) {
        const pool = emulatorPool(compiler.signal)
        try {
          const bench: EmulationBench = {
            ...{ toolbox: compiler.toolbox, pool, probe: probe.artefact, task: plan.task, gpu },
            ...{ taskFolder: plan.taskFolder, seed, signal: compiler.signal },
          }
          const deep = await new EmulatedRungs(run, bench, library, built, found, launchesAt).all()
          return { deep, missing: null }
        } finally {
          await pool.close()
        }
      },
      result: (state) => resultOf(state, run.plan, found.get(state.planned.rung.id), gpu),
    }
  })

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
  private readonly fills
  private readonly expectations
  private readonly deep = new Map<string, DeepProfile>()

  constructor(
    private readonly run: Run,
    private readonly bench: EmulationBench,
    /** The task's reference, built; null where a rung is trusted. */
    private readonly library: string | null,
    private readonly built: BuiltRungs,
    private readonly found: Map<string, CountedRung>,
    private readonly launchesAt: Problem | null,
  ) {
    this.fills = sharedFills(bench)
    this.expectations = sharedExpectations((own) => this.expect(own))
  }

  async all(): Promise<Map<string, DeepProfile>> {
    const { plan, emit, signal } = this.run
    const ready = await this.ready(plan.problem)
    const estimates = await this.announce(ready)
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

  /** What each built rung launches at a problem; one that launches nothing known has its status. */
  private async ready(problem: Problem): Promise<Map<string, ReadyRung>> {
    const { states, publish } = this.built
    const ready = new Map<string, ReadyRung>()
    for (const state of states.values()) {
      if (!state.build?.artefact || this.run.signal.aborted) continue
      const { rung } = state.planned
      const one = await readyRung(this.bench, this.fills, rung, state.build, problem)
      if ('reason' in one) {
        state.measured = { verify: null, timing: null, trouble: troubleOf(one) }
        publish(state)
      } else ready.set(rung.id, one)
    }
    return ready
  }

  /** Says what all will take; throws where that is too much. */
  private async announce(ready: ReadonlyMap<string, ReadyRung>): Promise<Map<string, number>> {
    const { plan, emit } = this.run
    const estimates = new Map<string, number>()
    for (const rung of ready.values())
      if (memoryOf(rung) > memoryBytes * 0.9)
        throw inputError(
          message('emulation.tooMuchMemory', {
            rung: rung.id,
            gib: (memoryOf(rung) / 2 ** 30).toFixed(1),
            most: (memoryBytes / 2 ** 30).toFixed(0),
          }),
          message('asked.smallerWith'),
        )
    await inParallel([...ready.values()], async (rung) => {
      estimates.set(rung.id, await estimate(this.bench, rung))
    })
    for (const [rung, instructions] of estimates) {
      if (!Number.isFinite(instructions) || instructions <= mostInstructions) continue
      const { task, problem } = plan
      const each = instructions / workOf(task, problem)
      const fits = shrunk(
        task,
        problem,
        (smaller) => each * workOf(task, smaller) <= mostInstructions,
      )
      throw inputError(
        message('emulation.tooLarge', {
          ...{ at: named(problem.sizes), rung },
          ...{ instructions: millions(instructions), most: millions(mostInstructions) },
        }),
        message('emulation.trySizes', { at: named(fits.sizes) }),
      )
    }
    const total = [...estimates.values()].reduce(
      (sum, one) => sum + (Number.isFinite(one) ? one : 0),
      0,
    )
    const threads = Math.min(availableParallelism(), ready.size)
    if (ready.size > 0)
      emit({
        type: 'log',
        level: 'info',
        message: message('emulation.announced', {
          instructions: millions(total),
          rungs: ready.size,
          seconds: Math.ceil(total / (instructionsPerSecond * threads)),
          threads,
        }),
      })
    return estimates
  }

  private async expect(own: Case): Promise<Expectation> {
    const { trusted } = this.run.plan
    if (this.library !== null)
      return expectedOf(this.bench, this.library, own, await this.fills(own))
    const state = trusted && this.built.states.get(trusted.rung.id)
    const failed = (): KernelLadderError =>
      new KernelLadderError(
        'failed',
        message('records.trustedFailed', { rung: trusted?.rung.id ?? '' }),
      )
    if (!trusted || !state?.build?.artefact) throw failed()
    const { rung } = trusted
    const ready = await readyRung(this.bench, this.fills, rung, state.build, own)
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
    const answer = await execute(this.bench, rung, { estimated })
    if (keeps)
      for (const said of printedLines(rung.id, answer, rung.places))
        this.run.emit({ type: 'log', level: 'info', message: said })
    const { records, stop } = faultsOf(answer, rung)
    const fault = faultReason(records.map(({ record }) => record)) ?? stop
    if (fault !== null)
      return { verify: null, timing: null, trouble: { status: 'failed', reason: fault } }
    if (keeps)
      await this.keep(
        rung,
        answer.kernels.map(({ counts }) => counts),
      )
    return { verify: verified(task, rung, answer, expected), timing: null }
  }

  private async keep(rung: ReadyRung, counts: readonly Counts[]): Promise<void> {
    const { planned, build } = this.built.states.get(rung.id)!
    const built = build!
    const told = this.launchesAt
      ? await readyRung(this.bench, () => Promise.resolve([]), planned.rung, built, this.launchesAt)
      : rung
    const launched = 'reason' in told ? rung.launched : told.launched
    const counted = countedRung(rung, built, counts, launched)
    this.deep.set(rung.id, counted.deep)
    this.found.set(rung.id, counted)
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
    const ready = await readyRung(this.bench, this.fills, planned.rung, build!, problem)
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

const troubleOf = ({ reason, fault }: NotLaunched): NonNullable<Measured['trouble']> => ({
  status: fault ?? 'unsupported',
  reason: fault === undefined ? message('emulation.notLaunched', { why: reason }) : reason,
})
