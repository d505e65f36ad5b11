/** Runs rungs on an emulated GPU from the built-in table. */
import { savedRun, type FinishedRun, type Runner, type StartRunOptions } from './saved-run'
import type { Catalog } from '../../adapters/catalog/catalog'
import { catalogFor } from '../folders/copies'
import { planRun } from '../run/plan'
import { caseOf, sameSizes } from '../../domain/task/problem'
import { requireProblem } from '../../domain/task/problem-faults'
import { emulatedGpu } from '../run/emulated-gpu'
import { emulatedWay, type EmulationSettings } from '../run/emulated-way'
import type { RunPlan } from '../../domain/run/plan'
import { emulatedProblem } from '../../domain/emulation/emulated-problem'
import { type At, chosen } from '../../domain/task/problem-request'
import { sizeNames, type Task } from '../../domain/task/task'

export async function emulatePlan(
  catalog: Catalog,
  plan: RunPlan,
  name: string | null,
  options: StartRunOptions,
  { launchesAt = null, shrunkFrom = null }: Omit<EmulationSettings, 'seed'> = {},
): Promise<FinishedRun> {
  const target = emulatedGpu(name)
  return savedRun(
    {
      catalog,
      plan,
      target: { kind: 'emulated', name: target.name },
      way: () =>
        emulatedWay(target.gpu, { seed: options.settings?.seed ?? 1, launchesAt, shrunkFrom }),
    },
    options,
  )
}

const withoutSizes = ({ sizes }: Task, at: At = {}): At =>
  Object.fromEntries(Object.entries(at).filter(([name]) => sizes[name] === undefined))

export const runEmulated: Runner = async (name, request, options) => {
  emulatedGpu(name)
  const { catalog, request: own } = await catalogFor(options, request)
  const plan = planRun(catalog, { ...own, profile: 'deep' })
  const given = chosen(plan.task, own).sizes
  if (given !== null && sizeNames(plan.task).every((size) => given[size] !== undefined))
    return emulatePlan(catalog, plan, name, options)
  // Reduce the sizes that the user did not choose. If the user chose no sizes, reduce all of them.
  const usual = planRun(catalog, { ...own, profile: 'deep', at: withoutSizes(plan.task, own.at) })
  const small = emulatedProblem(plan.task, usual.problem)
  const problem = { ...small, sizes: { ...small.sizes, ...given } }
  requireProblem(plan.task, caseOf(problem))
  const shrunkFrom = sameSizes(problem.sizes, plan.problem.sizes) ? null : plan.problem
  return emulatePlan(catalog, { ...plan, problem }, name, options, { shrunkFrom })
}
