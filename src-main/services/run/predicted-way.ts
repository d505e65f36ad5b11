/**
 * Predicts times without a GPU. Rungs are built and checked on the emulated GPU at a size for which
 * the emulation takes only seconds. After the check, the timing model predicts the time at the
 * requested size.
 */
import { emulatorPool } from '../../adapters/emulator/pool'
import { staticRungFlags } from '../../adapters/tools/nvcc'
import { message } from '../../domain/messages/message'
import { predictionModel } from '../../domain/prediction/prediction'
import type { RunPlan } from '../../domain/run/plan'
import type { DeepProfile } from '../../domain/session/deep'
import { named, sameSizes, type Problem } from '../../domain/task/problem'
import type { Bench } from '../bench/bench'
import { inParallel } from '../bench/in-parallel'
import type { Builds } from './build-rungs'
import { notEmulated } from './counted-rung'
import { EmulatedRungs, type LaunchesAt } from './emulated-rungs'
import { emulatorWarnings, withTrusted } from './emulated-way'
import type { Finding, Findings } from './finding'
import { sourceOf, type PredictedGpu } from './predicted-gpu'
import { PredictedRungs } from './predicted-rungs'
import { openTools, PreparedRungs, requireFitting } from './prepared-rungs'
import { allUnavailable } from './profile'
import type { Progress } from './progress'
import type { OpenWay } from './way'

export interface PredictionSettings {
  seed: number
  /**
   * Problem for which the rungs' results are verified. Counters are exact if this problem is the
   * plan's problem.
   */
  checkAt: Problem
  /** Problem for which the time is predicted (default: the plan's problem). */
  predictAt?: Problem
  launchesAt?: LaunchesAt | null
}

export const predictedWay =
  (on: PredictedGpu, settings: PredictionSettings): OpenWay =>
  async ({ bench, plan }) => {
    const predictAt = settings.predictAt ?? plan.problem
    requireFitting({ ...plan, problem: predictAt })
    const { gpu, parameters } = on
    const compiler = await bench.compiler()
    return {
      gpu,
      device: null,
      flags: staticRungFlags,
      settings: {
        ...{ seed: settings.seed, profile: 'deep' },
        ...{ clockControl: null, cacheControl: null },
      },
      prediction: sourceOf(on),
      rungs: withTrusted(plan),
      warnings: [
        ...emulatorWarnings(compiler, gpu),
        message('prediction.about', {
          ...{ gpu: gpu.name, at: named(predictAt.sizes), model: predictionModel },
          parameters: `${on.name}.json`,
        }),
        ...(parameters.validated ? [] : [message('prediction.notValidated', { gpu: gpu.name })]),
        ...(sameSizes(settings.checkAt.sizes, plan.problem.sizes)
          ? []
          : [
              message('prediction.checkedAt', {
                at: named(settings.checkAt.sizes),
                of: named(plan.problem.sizes),
              }),
            ]),
      ],
      withoutCounters: ({ status, reason }) =>
        allUnavailable('deep', status === 'ok' ? notEmulated : (reason ?? notEmulated)),
      examine: (builds, progress) =>
        examine({ bench, plan, on, settings: { ...settings, predictAt } }, builds, progress),
    }
  }

interface Predicting {
  bench: Bench
  plan: RunPlan
  on: PredictedGpu
  settings: PredictionSettings & { predictAt: Problem }
}

async function examine(
  { bench, plan, on, settings }: Predicting,
  builds: Builds,
  progress: Progress,
): Promise<Findings> {
  const { toolbox, signal } = bench
  const { checkAt, predictAt, launchesAt = null, seed } = settings
  const { gpu } = on
  const pool = emulatorPool(signal, { start: toolbox.startEmulator })
  const checked: RunPlan = { ...plan, problem: checkAt }
  try {
    const emulation = {
      ...{ toolbox, pool, task: plan.task, taskFolder: plan.taskFolder },
      ...{ gpu, seed, signal },
    }
    const tools = openTools(bench.launchProbe(), bench.probedReference(plan, gpu), emulation)
    const prepared = new PreparedRungs(checked, tools, emulation)
    const predicting = new PredictedRungs({ plan, on, checkAt, predictAt, tools, emulation })
    await inParallel([...builds.each.values()], async (build) => {
      const built = await build
      await prepared.add(built)
      const { id } = built.planned.rung
      progress.rung(id, 'time', 'running')
      await predicting.add(built)
      progress.rung(id, 'time', 'done')
    })
    const built = await builds.all()
    const nothing = { rungs: prepared.unlaunched, warnings: [], deep: new Map(), missing: null }
    if (signal.aborted) return nothing
    const emulated = await new EmulatedRungs(
      { plan: checked, built, prepared, tools: await tools, launchesAt },
      progress,
    ).examine()
    const rungs = new Map<string, Finding>()
    const deep = new Map<string, DeepProfile>()
    for (const [id, finding] of emulated.rungs) {
      const joined = predicting.join(id, finding, emulated.deep.get(id))
      rungs.set(id, joined.finding)
      if (joined.deep) deep.set(id, joined.deep)
    }
    return { ...nothing, rungs, deep }
  } finally {
    await pool.close()
  }
}
