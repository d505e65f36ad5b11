/**
 * Finds the GPUs for which times can be predicted. These GPUs can be emulated and have parameter
 * files.
 */
import { createHash } from 'node:crypto'
import { findGpu, listGpus, type GpuFolders } from '../../adapters/disk/gpu-files'
import { inputError, missingError } from '../../domain/errors'
import type { BuildGpu } from '../../domain/gpu/gpu-table'
import { message } from '../../domain/messages/message'
import { gpuParametersText, parameterValues } from '../../domain/prediction/gpu-parameters'
import { predictionModel, type PredictionGpu } from '../../domain/prediction/prediction'
import type { PredictionSource } from '../../domain/session/predicted'
import { emulatedGpu } from './emulated-gpu'

export interface ParameterSet extends PredictionGpu {
  /** SHA-256 of the parameter file's text, in hexadecimal. */
  hash: string
}

/**
 * Reads a GPU's parameters by its id. Returns null if there is no parameter file. Throws an input
 * error if the file is invalid.
 */
export async function readParameters(
  folders: GpuFolders,
  id: string,
): Promise<ParameterSet | null> {
  const found = await findGpu(folders, id)
  if (!found) return null
  const { parameters } = found
  return {
    values: parameterValues(parameters),
    validated: parameters.validated,
    hash: createHash('sha256').update(gpuParametersText(parameters)).digest('hex'),
  }
}

export interface PredictedGpu {
  name: string
  gpu: BuildGpu
  parameters: ParameterSet
}

/**
 * Returns the GPU and its parameters. Throws an error if the GPU is unknown or has no usable
 * parameter file.
 */
export async function predictedGpu(
  folders: GpuFolders,
  asked: string | null,
): Promise<PredictedGpu> {
  const { name, gpu } = emulatedGpu(asked)
  const parameters = await readParameters(folders, name)
  if (parameters) return { name, gpu, parameters }
  const known = await listGpus(folders)
  const why = message('prediction.noGpuParameters', { gpu: gpu.name })
  const remedy = message('prediction.gpusWithParameters', { gpus: known.join(', ') || '–' })
  throw asked === null ? missingError(why, remedy) : inputError(why, remedy)
}

export const sourceOf = ({ name, parameters }: PredictedGpu): PredictionSource => ({
  model: predictionModel,
  parameters: { name, validated: parameters.validated, hash: parameters.hash },
})
