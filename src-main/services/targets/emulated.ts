/** Runs rungs on an emulated GPU of the built-in table. */
import { readSharedFiles } from '../../adapters/kernels/kernel-library'
import type { KernelLibrary } from '../../adapters/kernels/kernel-library'
import { emulatedProblem } from '../../domain/emulation/size'
import { chosen, type Problem } from '../../domain/task/problem'
import { libraryFor } from '../ladder-library/copies'
import { emulatedGpu } from '../run/emulated-gpu'
import { emulateLadder } from '../run/emulated-run'
import { planRun, type RunPlan } from '../run/plan'
import type { Runner } from './runner'
import { savedRun, type FinishedRun, type StartRunOptions } from './saved-run'

export async function emulatePlan(
  library: KernelLibrary,
  plan: RunPlan,
  name: string | null,
  options: StartRunOptions,
  launchesAt: Problem | null = null,
): Promise<FinishedRun> {
  const target = emulatedGpu(name)
  const probeSources = await readSharedFiles(library.root, 'probe')
  return savedRun(
    {
      library,
      plan,
      target: { kind: 'emulated', name: target.name },
      work: (run) =>
        emulateLadder(run, target.gpu, probeSources, {
          seed: options.settings?.seed ?? 1,
          launchesAt,
        }),
    },
    options,
  )
}

export const runEmulated: Runner = async (name, request, options) => {
  emulatedGpu(name)
  const { library, request: own } = await libraryFor(options, request)
  const plan = planRun(library, { ...own, profile: 'deep' })
  const asked = chosen(plan.task, own).sizes !== null
  return emulatePlan(
    library,
    asked ? plan : { ...plan, problem: emulatedProblem(plan.task, plan.problem) },
    name,
    options,
  )
}
