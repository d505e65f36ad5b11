/**
 * Predicts rung times for a GPU in the built-in table. The GPU must have a parameter file for the
 * timing model.
 */
import { emulatedProblem } from '../../domain/emulation/emulated-problem'
import type { RunPlan } from '../../domain/run/plan'
import type { Catalog } from '../../adapters/catalog/catalog'
import { gpuFolders } from '../../adapters/disk/gpu-files'
import { catalogFor } from '../folders/copies'
import { planRun } from '../run/plan'
import { predictedGpu } from '../run/predicted-gpu'
import { predictedWay, type PredictionSettings } from '../run/predicted-way'
import { savedRun, type FinishedRun, type Runner, type StartRunOptions } from './saved-run'

export async function predictPlan(
  catalog: Catalog,
  plan: RunPlan,
  name: string | null,
  options: StartRunOptions,
  settings: Omit<PredictionSettings, 'seed'>,
): Promise<FinishedRun> {
  const on = await predictedGpu(gpuFolders(options), name)
  return savedRun(
    {
      ...{ catalog, plan, target: { kind: 'predicted', name: on.name } },
      way: () => predictedWay(on, { seed: options.settings?.seed ?? 1, ...settings }),
    },
    options,
  )
}

export const runPredicted: Runner = async (name, request, options) => {
  // Report early if times cannot be predicted for this GPU.
  await predictedGpu(gpuFolders(options), name)
  const { catalog, request: own } = await catalogFor(options, request)
  const plan = planRun(catalog, { ...own, profile: 'deep' })
  const checkAt = emulatedProblem(plan.task, plan.problem)
  return predictPlan(catalog, plan, name, options, { checkAt })
}
