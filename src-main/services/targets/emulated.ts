/** Runs rungs on an emulated GPU of the built-in table. */
import { readSharedFiles } from '../../adapters/kernels/kernel-library'
import type { KernelLibrary } from '../../adapters/kernels/kernel-library'
import { emulatedProblem } from '../../domain/emulation/size'
import { inputError } from '../../domain/errors'
import { buildGpu, gpus, type BuildGpu } from '../../domain/gpu/gpus'
import { message } from '../../domain/messages/message'
import { defaultEmulatedGpu } from '../../domain/target/emulated'
import { chosen } from '../../domain/task/choose'
import { libraryFor } from '../ladder-library/copies'
import { emulateLadder, isEmulated } from '../run/emulated-run'
import { planRun, type RunPlan } from '../run/plan'
import type { Runner } from './runner'
import { savedRun, type FinishedRun, type StartRunOptions } from './saved-run'

/** The GPU of that name; throws where the emulator has none like it. */
export function emulatedGpu(name: string | null): { name: string; gpu: BuildGpu } {
  const word = name ?? defaultEmulatedGpu
  const gpu = buildGpu(word)
  const all = gpus.filter(isEmulated).map(({ id }) => id)
  const offered = message('emulation.architectures', { gpus: all.join(', ') })
  if (!gpu) throw inputError(message('asked.noGpu', { gpu: JSON.stringify(word) }), offered)
  if (!isEmulated(gpu))
    throw inputError(
      message('emulation.noArchitecture', {
        gpu: gpu.name,
        computeCapability: gpu.computeCapability,
      }),
      offered,
    )
  return { name: word, gpu }
}

export async function emulatePlan(
  library: KernelLibrary,
  plan: RunPlan,
  name: string | null,
  options: StartRunOptions,
): Promise<FinishedRun> {
  const target = emulatedGpu(name)
  const probeSources = await readSharedFiles(library.root, 'probe')
  return savedRun(
    {
      library,
      plan,
      target: { kind: 'emulated', name: target.name },
      work: (run) => emulateLadder(run, target.gpu, probeSources, options.settings?.seed ?? 1),
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
