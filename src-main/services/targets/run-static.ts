/** Builds rungs for a GPU in the built-in table without running them. */
import { savedRun, type Runner } from './saved-run'
import { catalogFor } from '../folders/copies'
import { planRun } from '../run/plan'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { buildGpu, gpus } from '../../domain/gpu/gpu-table'
import { staticWay } from '../run/static-way'
import { computeCapabilities } from '../../domain/gpu/sm-limits'

export const runStatic: Runner = async (name, request, options) => {
  const gpu = name === null ? null : buildGpu(name)
  if (name === null || !gpu)
    throw inputError(
      message('asked.noGpu', { gpu: JSON.stringify(name) }),
      message('asked.gpus', {
        gpus: gpus.map(({ id }) => id).join(', '),
        architectures: computeCapabilities.map((cc) => `sm_${cc.replace('.', '')}`).join(', '),
      }),
    )
  const { catalog, request: own } = await catalogFor(options, request)
  return savedRun(
    {
      catalog,
      plan: planRun(catalog, { ...own, profile: 'none' }),
      target: { kind: 'static', name },
      way: () => staticWay(gpu),
    },
    options,
  )
}
