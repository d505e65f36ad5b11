/** Executes prepared rungs on the emulated GPU, checks their results, and stores their counts. */
import { availableParallelism } from 'node:os'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import { faultReason, printedLines } from '../../domain/emulation/findings'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message, type AnyMessage, type Statement } from '../../domain/messages/message'
import type { RunPlan } from '../../domain/run/plan'
import type { DeepProfile } from '../../domain/session/deep'
import type { EmulationAnswer } from '../../domain/emulation/job'
import type { Verify, VerifiedAt } from '../../domain/session/session'
import { named, type Case, type Problem } from '../../domain/task/problem'
import { inParallel } from '../bench/in-parallel'
import { countedRung, type CountedRung } from './counted-rung'
import { allPlaces, estimate, execute, faultsOf, readyRung, type ReadyRung } from './emulate'
import {
  expectedOf,
  sharedExpectations,
  trustedExpectation,
  verified,
  type Expectation,
} from './emulated-expectation'
import type { Finding, Findings, RungBuild } from './finding'
import type { Measured } from './measured'
import { millions, type EmulationTools, type PreparedRungs } from './prepared-rungs'
import type { Progress } from './progress'
import { wrongness } from './wrongness'

/** Milliseconds between progress reports for a long-running rung. */
const progressMs = 10_000

/**
 * Maximum number of warp instructions per additional problem. Problems above this limit are
 * skipped.
 */
const mostFurther = 5e7

/**
 * A problem whose launches are reported instead of the emulated problem's launches. The rungs in
 * `verified` must also return correct results for this problem.
 */
export interface LaunchesAt {
  problem: Problem
  /** Ids of the rungs whose launches are reported only after verification. */
  verified: readonly string[]
}

interface ToEmulate {
  plan: RunPlan
  built: ReadonlyMap<string, RungBuild>
  prepared: PreparedRungs
  tools: EmulationTools
  /**
   * The problem that determines the reported launches, occupancy, and waves. Null for the plan's
   * own problem.
   */
  launchesAt: LaunchesAt | null
}

export class EmulatedRungs {
  private readonly bench
  private readonly expectations
  private readonly deep = new Map<string, DeepProfile>()
  private readonly warnings: Statement[] = []

  constructor(
    private readonly of: ToEmulate,
    private readonly progress: Progress,
  ) {
    this.bench = of.tools.bench
    this.expectations = sharedExpectations((own) => this.expect(own))
  }

  async examine(): Promise<Pick<Findings, 'rungs' | 'deep' | 'warnings'>> {
    const { plan, prepared } = this.of
    const { ready, estimates } = prepared
    const found = new Map<string, Finding>(prepared.unlaunched)
    const step = this.progress.stage('measure', ready.size)
    let from: Statement | null = null
    await inParallel([...ready.values()], async (rung) => {
      if (this.bench.signal.aborted) return
      this.progress.rung(rung.id, 'verify', 'running')
      const expected = await this.expectations(rung.own)
      from ??= expected.from
      const finding = await this.one(rung, expected, estimates.get(rung.id)!)
      found.set(rung.id, finding)
      found.set(rung.id, { ...finding, ...(await this.elsewhere(rung)) })
      this.progress.rung(rung.id, 'verify', finding.verify?.passed ? 'done' : 'failed')
      this.progress.found(rung.id, found.get(rung.id)!)
      step()
    }).catch((error: unknown) => {
      // Keep results that were complete before a cancellation.
      if (!(error instanceof KernelLadderError && error.kind === 'cancelled')) throw error
    })
    if (from)
      this.warnings.push(
        message('emulation.about', {
          gpu: this.bench.gpu.name,
          at: named(plan.problem.sizes),
          reference: from,
        }),
      )
    return { rungs: found, deep: this.deep, warnings: this.warnings }
  }

  private async expect(own: Case): Promise<Expectation> {
    const { plan, built, prepared, tools } = this.of
    if (tools.library !== null) {
      const buffers = await prepared.fills(own, plan.task.id, 0)
      if ('key' in buffers) throw inputError(buffers, message('asked.smallerWith'))
      return expectedOf(this.bench, tools.library, own, buffers)
    }
    const { trusted } = plan
    const build = trusted && built.get(trusted.rung.id)?.outcome
    const failed = (): KernelLadderError =>
      new KernelLadderError(
        'failed',
        message('records.trustedFailed', { rung: trusted?.rung.id ?? '' }),
      )
    if (!trusted || !build?.artifact) throw failed()
    const ready = await readyRung(this.bench, prepared.fills, trusted.rung, build, own)
    if ('reason' in ready) throw failed()
    const estimated = await estimate(this.bench, ready)
    const answer = await execute(this.bench, ready, { estimated })
    if (answer.stop) throw failed()
    return trustedExpectation(plan.task, ready, answer)
  }

  /**
   * Executes a rung with the run's problem and stores its counts. `estimated` is the expected
   * number of instructions.
   */
  private async one(rung: ReadyRung, expected: Expectation, estimated: number): Promise<Finding> {
    const { measured, answer } = await this.execute(rung, expected, estimated)
    for (const line of printedLines(rung.id, answer, allPlaces(rung))) this.progress.note(line)
    if (measured.trouble) return measured
    if (answer.kernels.some(({ readsClock }) => readsClock))
      this.warnings.push(message('emulation.clock', { rung: rung.id }))
    const launched = await this.launchesOf(rung)
    if ('key' in launched)
      return { verify: null, timing: null, trouble: { status: 'failed', reason: launched } }
    const counts = answer.kernels.map((kernel) => kernel.counts)
    const { outcome } = this.of.built.get(rung.id)!
    const counted = countedRung(rung, outcome!, counts, launched)
    this.deep.set(rung.id, counted.deep)
    return { ...measured, ...this.counters(counted) }
  }

  private async execute(rung: ReadyRung, expected: Expectation, estimated: number) {
    // If there are fewer rungs than threads, let several threads share a rung's blocks.
    const threads = Math.floor(availableParallelism() / this.of.prepared.ready.size)
    const onProgress = this.progressOf(rung.id, estimated)
    const answer = await execute(this.bench, rung, { estimated, threads, onProgress })
    const { records, stop } = faultsOf(answer, rung)
    const reason =
      faultReason(records.map(({ record }) => record)) ??
      stop ??
      (answer.unsettled ? message('emulation.unsettled') : null)
    const measured: Measured =
      reason === null
        ? { verify: this.verifiedAll(rung, answer, expected), timing: null }
        : { verify: null, timing: null, trouble: { status: 'failed', reason } }
    return { measured, answer }
  }

  /**
   * Verifies the outputs of all runs, and returns the first failed verification if there is one.
   */
  private verifiedAll(rung: ReadyRung, answer: EmulationAnswer, expected: Expectation): Verify {
    const all = [answer.outputs, ...answer.again].map((outputs) =>
      verified(this.of.plan.task, rung, { ...answer, outputs }, expected),
    )
    return all.find(({ passed }) => !passed) ?? all[0]!
  }

  /** Returns a function that reports a rung's progress every ten seconds. */
  private progressOf(rung: string, estimated: number): (instructions: number) => void {
    let reportedAt = performance.now()
    return (instructions) => {
      if (performance.now() - reportedAt < progressMs) return
      reportedAt = performance.now()
      const done = millions(instructions)
      this.progress.note(
        Number.isFinite(estimated)
          ? message('emulation.progress', { rung, done, total: millions(estimated) })
          : message('emulation.progressOpen', { rung, done }),
      )
    }
  }

  /**
   * Returns the rung's launches at the requested problem, or the reason that they cannot be used.
   */
  private async launchesOf(rung: ReadyRung): Promise<ReadyRung['launched'] | AnyMessage> {
    const { built, launchesAt, plan, prepared } = this.of
    if (!launchesAt) return rung.launched
    const { problem } = launchesAt
    const { planned, outcome } = built.get(rung.id)!
    const verifies = launchesAt.verified.includes(rung.id)
    const fills = verifies ? prepared.fills : () => Promise.resolve([])
    const there = await readyRung(this.bench, fills, planned.rung, outcome!, problem)
    if (!verifies) return 'reason' in there ? rung.launched : there.launched
    const wrong = (why: Statement): AnyMessage =>
      message('records.wrongAt', { at: named({ ...problem.sizes, ...problem.scalars }), why })
    if ('reason' in there) return wrong(there.reason)
    const expected = await this.expectations(there.own)
    const { measured } = await this.execute(there, expected, await estimate(this.bench, there))
    if (measured.trouble) return wrong(measured.trouble.reason)
    return measured.verify?.passed ? there.launched : wrong(wrongness(measured.verify!, plan.task))
  }

  private counters({ launches, metrics, longest }: CountedRung): Partial<Finding> {
    const { launchesAt } = this.of
    const reason =
      launchesAt && message('emulation.launchesAt', { at: named(launchesAt.problem.sizes) })
    const derived = Object.entries(derivedMetrics([longest], this.bench.gpu))
    return {
      launches,
      profile: { passes: 0, kernels: launches.map((launch) => ({ ...launch, passes: null })) },
      metrics: {
        ...metrics,
        ...Object.fromEntries(
          derived.map(([id, value]) => [
            id,
            reason && value.value !== null ? { ...value, reason } : value,
          ]),
        ),
      },
    }
  }

  /** Verifies a rung with the plan's additional problems. */
  private async elsewhere(rung: ReadyRung): Promise<Pick<Finding, 'alsoVerified' | 'elsewhere'>> {
    const { alsoVerify } = this.of.plan
    const build = this.of.built.get(rung.id)
    if (!alsoVerify?.rungs.includes(rung.id) || !build?.outcome?.artifact) return {}
    const alsoVerified: VerifiedAt[] = []
    for (const problem of alsoVerify.problems) {
      if (this.bench.signal.aborted) break
      const found = await this.at(build, problem)
      if (found) alsoVerified.push(found)
    }
    const bad = alsoVerify.decides && alsoVerified.find(({ reason }) => reason !== undefined)
    if (!bad) return { alsoVerified }
    const { problem, verify, reason } = bad
    return {
      alsoVerified,
      elsewhere: {
        status: verify ? 'wrong' : 'failed',
        reason: message('records.wrongAt', {
          at: named({ ...problem.sizes, ...problem.scalars }),
          why: reason!,
        }),
      },
    }
  }

  /**
   * Verifies a rung with one additional problem. Returns null if the verification would take too
   * long. The session reports skipped problems.
   */
  private async at({ planned, outcome }: RungBuild, problem: Problem): Promise<VerifiedAt | null> {
    const { plan, prepared } = this.of
    const ready = await readyRung(this.bench, prepared.fills, planned.rung, outcome!, problem)
    if ('reason' in ready) return { problem, verify: null, reason: ready.reason }
    const estimated = await estimate(this.bench, ready)
    if (Number.isFinite(estimated) && estimated > mostFurther) {
      this.warnings.push(
        message('emulation.notVerifiedAt', {
          at: named(problem.sizes),
          rung: ready.id,
          instructions: millions(estimated),
        }),
      )
      return null
    }
    const expected = await this.expectations(ready.own)
    const { verify, trouble } = (await this.execute(ready, expected, estimated)).measured
    if (trouble) return { problem, verify: null, reason: trouble.reason }
    return {
      problem,
      verify,
      ...(verify && !verify.passed ? { reason: wrongness(verify, plan.task) } : {}),
    }
  }
}
