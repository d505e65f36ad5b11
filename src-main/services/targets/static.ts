/** Builds rungs for a GPU of the built-in table, without running anything. */
import { readSharedFiles } from '../../adapters/kernels/kernel-library'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { buildGpu, gpus, computeCapabilities } from '../../domain/gpu/gpu'
import { libraryFor } from '../ladder-library/copies'
import { planRun } from '../run/plan'
import { buildForGpu } from '../run/static-run'
import type { Runner } from './runner'
import { savedRun } from './saved-run'

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
  const { library, request: own } = await libraryFor(options, request)
  const probeSources = await readSharedFiles(library.root, 'probe')
  return savedRun(
    {
      library,
      plan: planRun(library, { ...own, profile: 'none' }),
      target: { kind: 'static', name },
      work: (run) => buildForGpu(run, gpu, probeSources),
    },
    options,
  )
}
