/**
 * Emulates a rung while the user edits it and returns its counters. The size is chosen so that the
 * emulation takes about a second. There is no session and no reference, so the results are not
 * verified.
 */
import { missingError } from '../../domain/errors'
import type { BuildGpu } from '../../domain/gpu/gpu-table'
import { message, type Statement } from '../../domain/messages/message'
import { faultReason } from '../../domain/emulation/findings'
import { buildRung } from '../bench/build-rung'
import { gpuFolders } from '../../adapters/disk/gpu-files'
import { gpus } from '../../domain/gpu/gpu-table'
import type { PredictedTime } from '../../domain/session/predicted'
import { readParameters, type ParameterSet } from './predicted-gpu'
import { predictedTime } from './predict-rung'
import {
  type Filled,
  type ReadyRung,
  execute,
  faultsOf,
  readyRung,
  requireRunning,
  type EmulationSettings,
} from './emulate'
import { sharedFills } from './filled-cases'
import { emulatorPool } from '../../adapters/emulator/pool'
import { staticRungFlags } from '../../adapters/tools/nvcc'
import { derivedMetrics } from '../../domain/analysis/derived-metrics'
import { type Problem, sizesLabel } from '../../domain/task/problem'
import type { Catalog } from '../../adapters/catalog/catalog'
import type { Setup } from '../../adapters/machine/machine'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { smOf } from '../bench/architecture'
import { Bench } from '../bench/bench'
import type { BuildOutcome } from '../bench/compiler'
import { emulatedProblem, lookedAtProblem } from '../../domain/emulation/emulated-problem'
import type { RungBuild, RungCounters } from '../../contract/rung-builds'
import { type CountedRung, countedRung } from './counted-rung'

interface Look {
  build: BuildOutcome
  /** Problem that was used for the emulation. */
  problem: Problem
  /**
   * The rung's counters. If the rung did not build or finish, this is null and `reason` contains
   * the explanation.
   */
  counted: Pick<CountedRung, 'deep' | 'metrics'> | null
  reason: Statement | null
  predicted: PredictedTime | null
}

/** Emulates one of a plan's rungs. Throws an error if canceled. */
async function lookAt(...given: Parameters<typeof look>): Promise<Look> {
  const [{ signal }] = given
  const found = await look(...given)
  requireRunning(signal)
  return found
}

async function look(
  bench: Bench,
  plan: RunPlan,
  planned: PlannedRung,
  gpu: BuildGpu,
  parameters: ParameterSet | null,
): Promise<Look> {
  const { toolbox, signal } = bench
  const { task, taskFolder } = plan
  const problem = lookedAtProblem(task, plan.problem)
  const compiler = await bench.compiler()
  const build = await buildRung(compiler, plan, planned, smOf(gpu), staticRungFlags)
  const nothing = (reason: Statement): Look => ({
    ...{ build, problem, counted: null, reason, predicted: null },
  })
  if (build.artifact === null) return nothing(build.reason ?? message('checks.notCompiled'))
  const probe = await bench.launchProbe()
  if ('reason' in probe) throw missingError(probe.reason, message('tools.hostCompiler'))
  const pool = emulatorPool(signal, { size: 1, start: toolbox.startEmulator })
  try {
    const emulation: EmulationSettings = {
      ...{ toolbox, pool, probe: probe.artifact, task, taskFolder, gpu },
      ...{ seed: 1, signal },
    }
    const fills = sharedFills(emulation, async () => ({
      bench: emulation,
      library: await bench.probedReference(plan, gpu),
    }))
    const ready = await readyRung(emulation, fills, planned.rung, build, problem)
    if ('reason' in ready) return nothing(ready.reason)
    const answer = await execute(emulation, ready, { estimated: Infinity })
    const { records, stop } = faultsOf(answer, ready)
    const fault = faultReason(records.map(({ record }) => record)) ?? stop
    if (answer.stop !== null) return nothing(fault ?? message('checks.failed'))
    const counts = answer.kernels.map((kernel) => kernel.counts)
    const counted = countedRung(
      ready,
      build,
      counts,
      await launchedAt(emulation, ready, plan, build),
    )
    const metrics = { ...counted.metrics, ...derivedMetrics([counted.longest], gpu) }
    const predicted =
      parameters && !fault
        ? await predictedHere(emulation, { fills, plan, planned, build, parameters })
        : null
    return { build, problem, counted: { deep: counted.deep, metrics }, reason: fault, predicted }
  } finally {
    await pool.close()
  }
}

/**
 * Returns the problem for predicting times while the user types. This problem is larger than the
 * one for counters, because the prediction simulates only a few blocks.
 */
const predictedProblem = ({ task, problem }: RunPlan): Problem => emulatedProblem(task, problem)

async function predictedHere(
  bench: EmulationSettings,
  {
    fills,
    plan,
    planned,
    build,
    parameters: { values, validated },
  }: {
    fills: Filled
    plan: RunPlan
    planned: PlannedRung
    build: BuildOutcome
    parameters: ParameterSet
  },
): Promise<PredictedTime | null> {
  const ready = await readyRung(bench, fills, planned.rung, build, predictedProblem(plan))
  if ('reason' in ready) return null
  const time = predictedTime(await bench.pool.predict(ready.job, { values, validated }), null)
  return 'predicted' in time ? time.predicted : null
}

/**
 * Returns the launches at the plan's own problem, because the user needs the waves and occupancy at
 * that problem.
 */
async function launchedAt(
  bench: EmulationSettings,
  { launched, id }: ReadyRung,
  { problem, rungs }: RunPlan,
  build: BuildOutcome,
) {
  const { rung } = rungs.find((one) => one.rung.id === id)!
  const there = await readyRung(bench, () => Promise.resolve([]), rung, build, problem)
  return 'reason' in there ? launched : there.launched
}

export const builtAnswer = (built: BuildOutcome, sm: string): RungBuild => ({
  built: built.artifact !== null,
  reason: built.reason ?? null,
  diagnostics: built.diagnostics,
  build: built.build,
  architecture: `sm_${sm}`,
})

/** Returns the response for a rung that has no counters. */
export const uncounted = (build: RungBuild, gpu: BuildGpu): RungCounters => ({
  ...build,
  ...{ gpu: gpu.name, at: '', metrics: null, before: null, profile: null },
  ...{ predicted: null, predictedBefore: null, predictedAt: null },
})

interface Counting {
  catalog: Catalog
  gpu: BuildGpu
  /** Plan that contains only the edited rung. */
  plan: RunPlan
  /** Plan that contains only the original rung. */
  original: RunPlan
}

/**
 * Creates a function that emulates an edited rung and returns its counters. Each new call cancels
 * the active call, because the file has changed since the active call began.
 */
export function createCounting(setup: Setup) {
  const { machine } = setup
  const folders = gpuFolders(setup)
  let looking: AbortController | null = null
  const originals = new Map<string, Look>()

  const count = async (
    { catalog, gpu, plan, original }: Counting,
    signal: AbortSignal,
  ): Promise<RungCounters> => {
    const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
    const bench = await Bench.open(tools, catalog, signal)
    const id = gpus.find(({ name }) => name === gpu.name)?.id
    const parameters = id === undefined ? null : await readParameters(folders, id)
    const look = (of: RunPlan): Promise<Look> => lookAt(bench, of, of.rungs[0]!, gpu, parameters)
    const { build, counted, reason, problem, predicted } = await look(plan)
    const [{ rung, source }] = original.rungs as [RunPlan['rungs'][number]]
    const key = JSON.stringify([rung.file, rung.params, source, problem, gpu.name])
    const before = originals.get(key) ?? (await look(original))
    // Clear the cache when it is full. This is rare, because a screen shows only a few originals
    // and requests only the latest version of each file.
    if (originals.size >= 16) originals.clear()
    originals.set(key, before)
    return {
      ...builtAnswer(build, smOf(gpu)),
      ...{ reason, gpu: gpu.name, at: sizesLabel(problem.sizes) },
      metrics: counted?.metrics ?? null,
      before: before.counted?.metrics ?? null,
      predicted,
      predictedBefore: before.predicted,
      predictedAt: predicted && sizesLabel(predictedProblem(plan).sizes),
      profile: counted?.deep ?? null,
    }
  }
  /**
   * Call this function when a request arrives, before any file is read. File reads vary in
   * duration, so an older request could otherwise cancel a newer one.
   */
  return () => {
    looking?.abort()
    const { signal } = (looking = new AbortController())
    return (of: Counting): Promise<RungCounters> => count(of, signal)
  }
}
