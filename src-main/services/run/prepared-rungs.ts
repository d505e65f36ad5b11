/**
 * Prepares rungs for emulation. The preparation finds each rung's launches and estimates its warp
 * instructions from one block per launch. While a rung is prepared, the next rungs are compiled.
 */
import { availableParallelism } from 'node:os'
import { inputError, missingError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { caseOf, named } from '../../domain/task/problem'
import type { LadderRung } from '../../domain/ladder/ladder'
import type { RunPlan } from '../../domain/run/plan'
import type { BuildOutcome } from '../bench/compiler'
import type { buildLaunchProbe } from '../bench/own-programs'
import {
  estimate,
  readyRung,
  tooMuchMemory,
  type EmulationSettings,
  type ReadyRung,
} from './emulate'
import type { Finding, RungBuild } from './finding'
import { sharedFills } from './filled-cases'
import { shrunk, workOf } from '../../domain/emulation/emulated-problem'
import type { NotLaunched } from '../../adapters/tools/launch-probe'

/**
 * Maximum number of warp instructions of a rung, which take about ten minutes on one thread. Rungs
 * that exceed the limit are rejected.
 */
const mostInstructions = 4e9

/**
 * Instructions per second on one thread, from docs/evidence/emulation.md. Used only to announce the
 * expected duration.
 */
const instructionsPerSecond = 8e6

export const millions = (count: number): number => Math.max(1, Math.round(count / 1e6))

/** Tools for preparing rungs and verifying their results. */
export interface EmulationTools {
  bench: EmulationSettings
  /** Path of the task's built reference, or null if a trusted rung replaces it. */
  library: string | null
}

/** Opens the tools. Throws an error if the probe or the reference cannot be built. */
export async function openTools(
  probe: ReturnType<typeof buildLaunchProbe>,
  library: Promise<string | null>,
  bench: Omit<EmulationSettings, 'probe'>,
): Promise<EmulationTools> {
  const [builtProbe, builtLibrary] = await Promise.all([probe, library])
  if ('reason' in builtProbe) throw missingError(builtProbe.reason, message('tools.hostCompiler'))
  return { bench: { ...bench, probe: builtProbe.artifact }, library: builtLibrary }
}

export class PreparedRungs {
  readonly ready = new Map<string, ReadyRung>()
  /** Estimated warp instructions by rung. `Infinity` for a rung that does not finish. */
  readonly estimates = new Map<string, number>()
  readonly fills

  /** Results of rungs whose launches are unknown. */
  readonly unlaunched = new Map<string, Finding>()

  constructor(
    private readonly plan: RunPlan,
    readonly tools: Promise<EmulationTools>,
    private readonly bench: Omit<EmulationSettings, 'probe'>,
  ) {
    // If the tools cannot be built, callers that await them get the error. This handler prevents an
    // unhandled rejection if no caller awaits the tools.
    tools.catch(() => {})
    this.fills = sharedFills(bench, () => tools)
  }

  /** Prepares a built rung. Does nothing after the run is canceled. */
  async add(build: RungBuild): Promise<void> {
    if (!build.outcome?.artifact) return
    try {
      await this.prepare(build.planned.rung, build.outcome)
    } catch (error) {
      if (!this.bench.signal.aborted) throw error
    }
  }

  private async prepare(rung: LadderRung, outcome: BuildOutcome): Promise<void> {
    const { bench } = await this.tools
    const one = await readyRung(bench, this.fills, rung, outcome, this.plan.problem)
    if ('reason' in one) {
      this.unlaunched.set(rung.id, { verify: null, timing: null, trouble: toTrouble(one) })
      return
    }
    this.ready.set(rung.id, one)
    this.estimates.set(rung.id, await estimate(bench, one))
  }

  /**
   * Announces the emulation's total cost. Throws an error if a rung exceeds the instruction limit.
   */
  announce(tell: (notice: Statement) => void): void {
    for (const [rung, instructions] of this.estimates) {
      if (!Number.isFinite(instructions) || instructions <= mostInstructions) continue
      const { task, problem } = this.plan
      const each = instructions / workOf(task, problem)
      const less = shrunk(
        task,
        problem,
        (smaller) => each * workOf(task, smaller) <= mostInstructions,
      )
      throw inputError(
        message('emulation.tooLarge', {
          ...{ at: named(problem.sizes), rung },
          ...{ instructions: millions(instructions), most: millions(mostInstructions) },
        }),
        message('emulation.trySizes', { at: named(less.sizes) }),
      )
    }
    const total = [...this.estimates.values()].reduce(
      (sum, one) => sum + (Number.isFinite(one) ? one : 0),
      0,
    )
    const rungs = this.ready.size
    const threads = Math.min(availableParallelism(), rungs)
    if (rungs > 0)
      tell(
        message('emulation.announced', {
          instructions: millions(total),
          rungs,
          seconds: Math.ceil(total / (instructionsPerSecond * threads)),
          threads,
        }),
      )
  }
}

/**
 * Throws an error if a problem's buffers do not fit the emulated GPU. Called before anything is
 * built.
 */
export function requireFitting({
  task,
  problem,
  rungs,
}: Pick<RunPlan, 'task' | 'problem' | 'rungs'>): void {
  for (const { rung } of rungs) {
    const own = caseOf(problem, { options: rung.options, flags: rung.header.flags })
    const reason = tooMuchMemory(task, own, rung.id)
    if (reason) throw inputError(reason, message('asked.smallerWith'))
  }
}

const toTrouble = ({ reason, fault }: NotLaunched): NonNullable<Finding['trouble']> => ({
  status: fault ?? 'unsupported',
  reason: fault === undefined ? message('emulation.notLaunched', { why: reason }) : reason,
})
