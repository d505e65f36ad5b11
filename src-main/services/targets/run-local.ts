/** Runs rungs on this machine. */
import { savedRun, type FinishedRun, type Runner, type StartRunOptions } from './saved-run'
import type { KernelLibrary } from '../../adapters/catalog/catalog'
import { libraryFor } from '../folders/copies'
import { defaultSettings } from '../run/run-settings'
import { liveWay } from '../run/live-way'
import { planRun } from '../run/plan'
import type { RunPlan } from '../../domain/run/plan'

/** Runs a plan over a library that may differ from the one on disk. */
export const runLive = (
  library: KernelLibrary,
  plan: RunPlan,
  options: StartRunOptions,
): Promise<FinishedRun> =>
  savedRun(
    {
      library,
      plan,
      target: { kind: 'live', name: options.machine.name },
      way: (reportPath) => liveWay({ ...defaultSettings, ...options.settings }, reportPath),
    },
    options,
  )

export const runLocal: Runner = async (_name, request, options) => {
  const { library, request: own } = await libraryFor(options, request)
  const chosen = {
    ...(request.gpu === undefined ? {} : { gpu: request.gpu }),
    ...(request.cacheState === undefined ? {} : { cacheState: request.cacheState }),
  }
  return runLive(library, planRun(library, own), {
    ...options,
    settings: { ...options.settings, ...chosen },
  })
}
