/**
 * What a rung would count, while it is being written: built and emulated at a size that takes about a second. No
 * session, no reference: nothing here says that its results are right.
 */
import { emulatorPool } from '../../adapters/emulator/pool'
import { staticRungFlags } from '../../adapters/tools/nvcc'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import { faultReason } from '../../domain/emulation/findings'
import { lookedAtProblem } from '../../domain/emulation/size'
import { KernelLadderError, missingError } from '../../domain/errors'
import type { BuildGpu } from '../../domain/gpu/gpu'
import { message, type Statement } from '../../domain/messages/message'
import type { Problem } from '../../domain/task/problem'
import { buildLaunchProbe, buildRung, type BuildOutcome } from './build'
import { countedRung, type CountedRung } from './counted-rung'
import type { Compiler } from './compiler'
import { smOf } from './device'
import {
  execute,
  faultsOf,
  readyRung,
  sharedFills,
  type EmulationBench,
  type ReadyRung,
} from './emulate'
import type { PlannedRung, RunPlan } from './plan'

export type ProbeSources = Parameters<typeof buildLaunchProbe>[1]

export interface Look {
  build: BuildOutcome
  /** At which it was emulated. */
  problem: Problem
  /** Null where it did not build or run to its end; `reason` says why. */
  counted: Pick<CountedRung, 'deep' | 'metrics'> | null
  reason: Statement | null
}

/** Looks at one rung of a plan; throws when cancelled. */
export async function lookAt(...given: Parameters<typeof look>): Promise<Look> {
  const [{ signal }] = given
  const found = await look(...given)
  // A tool that was stopped looks like one that failed.
  if (signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
  return found
}

async function look(
  compiler: Compiler,
  plan: RunPlan,
  planned: PlannedRung,
  gpu: BuildGpu,
  sources: ProbeSources,
): Promise<Look> {
  const { toolbox, signal } = compiler
  const { task, taskFolder } = plan
  const problem = lookedAtProblem(task, plan.problem)
  const build = await buildRung(compiler, plan, planned, smOf(gpu), staticRungFlags)
  const nothing = (reason: Statement): Look => ({ build, problem, counted: null, reason })
  if (build.artefact === null) return nothing(build.reason ?? message('checks.notCompiled'))
  const probe = await buildLaunchProbe(compiler, sources)
  if ('reason' in probe) throw missingError(probe.reason, message('tools.hostCompiler'))
  const pool = emulatorPool(signal, 1)
  try {
    const bench: EmulationBench = {
      ...{ toolbox, pool, probe: probe.artefact, task, taskFolder, gpu },
      ...{ seed: 1, signal },
    }
    const ready = await readyRung(bench, sharedFills(bench), planned.rung, build, problem)
    if ('reason' in ready) return nothing(ready.reason)
    const answer = await execute(bench, ready, { estimated: Infinity })
    const { records, stop } = faultsOf(answer, ready)
    const fault = faultReason(records.map(({ record }) => record)) ?? stop
    if (answer.stop !== null) return nothing(fault ?? message('checks.failed'))
    const counts = answer.kernels.map((kernel) => kernel.counts)
    const counted = countedRung(ready, build, counts, await launchedAt(bench, ready, plan, build))
    const metrics = { ...counted.metrics, ...derivedMetrics([counted.longest], gpu) }
    return { build, problem, counted: { deep: counted.deep, metrics }, reason: fault }
  } finally {
    await pool.close()
  }
}

/** What it launches at the plan's own problem, whose waves and occupancy are those of interest. */
async function launchedAt(
  bench: EmulationBench,
  { launched, id }: ReadyRung,
  { problem, rungs }: RunPlan,
  build: BuildOutcome,
) {
  const { rung } = rungs.find((one) => one.rung.id === id)!
  const there = await readyRung(bench, () => Promise.resolve([]), rung, build, problem)
  return 'reason' in there ? launched : there.launched
}
