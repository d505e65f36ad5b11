/** Runs rungs on this machine. */
import type { KernelLibrary } from '../../adapters/kernels/kernel-library'
import { libraryFor } from '../ladder-library/copies'
import { defaultSettings, runLadder } from '../run/measured-run'
import { planRun, type RunPlan } from '../run/plan'
import type { Runner } from './runner'
import { savedRun, type FinishedRun, type StartRunOptions } from './saved-run'

/** Runs a plan over a library that may differ from the one on disk. */
export const runPlan = (
  library: KernelLibrary,
  plan: RunPlan,
  options: StartRunOptions,
): Promise<FinishedRun> =>
  savedRun(
    {
      library,
      plan,
      target: { kind: 'live', name: options.machine.name },
      work: (run) => runLadder(run, { ...defaultSettings, ...options.settings }),
    },
    options,
  )

export const runLocal: Runner = async (_name, request, options) => {
  const { library, request: own } = await libraryFor(options, request)
  const chosen = request.gpu === undefined ? {} : { gpu: request.gpu }
  return runPlan(library, planRun(library, own), {
    ...options,
    settings: { ...options.settings, ...chosen },
  })
}
