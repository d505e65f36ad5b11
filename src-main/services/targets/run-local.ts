/** Runs rungs on this machine. */
import { savedRun, type FinishedRun, type Runner, type StartRunOptions } from './saved-run'
import type { Catalog } from '../../adapters/catalog/catalog'
import { catalogFor } from '../folders/copies'
import { orOtherTarget } from '../bench/tools'
import { defaultSettings } from '../run/run-settings'
import { liveWay } from '../run/live-way'
import { planRun } from '../run/plan'
import type { RunPlan } from '../../domain/run/plan'

/** Runs a plan. `catalog` may differ from the rung library on disk. */
export const runLive = (
  catalog: Catalog,
  plan: RunPlan,
  options: StartRunOptions,
): Promise<FinishedRun> =>
  savedRun(
    {
      catalog,
      plan,
      target: { kind: 'live', name: options.machine.name },
      way: (reportPath) => liveWay({ ...defaultSettings, ...options.settings }, reportPath),
    },
    options,
  )

export const runLocal: Runner = async (_name, request, options) => {
  const { catalog, request: own } = await catalogFor(options, request)
  const chosen = {
    ...(request.gpu === undefined ? {} : { gpu: request.gpu }),
    ...(request.cacheState === undefined ? {} : { cacheState: request.cacheState }),
  }
  try {
    return await runLive(catalog, planRun(catalog, own), {
      ...options,
      settings: { ...options.settings, ...chosen },
    })
  } catch (error) {
    throw orOtherTarget(error)
  }
}
