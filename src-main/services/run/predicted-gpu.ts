/** The GPUs that times are predicted for: those that the emulator stands for, with a parameter file. */
import {
  parameterFiles,
  readParameters,
  type ParameterSet,
} from '../../adapters/prediction/parameter-files'
import { inputError, missingError } from '../../domain/errors'
import type { BuildGpu } from '../../domain/gpu/gpu-table'
import { message } from '../../domain/messages/message'
import { predictionModel } from '../../domain/prediction/prediction'
import type { PredictionSource } from '../../domain/session/predicted'
import { emulatedGpu } from './emulated-gpu'

export interface PredictedGpu {
  name: string
  gpu: BuildGpu
  parameters: ParameterSet
}

/** Throws for an unknown GPU, and for one without a usable parameter file. */
export async function predictedGpu(folder: string, asked: string | null): Promise<PredictedGpu> {
  const { name, gpu } = emulatedGpu(asked)
  const parameters = await readParameters(folder, name)
  if (parameters) return { name, gpu, parameters }
  const known = await parameterFiles(folder)
  const why = message('prediction.noGpuParameters', { gpu: gpu.name })
  const remedy = message('prediction.gpusWithParameters', { gpus: known.join(', ') || '–' })
  throw asked === null ? missingError(why, remedy) : inputError(why, remedy)
}

export const sourceOf = ({ name, parameters }: PredictedGpu): PredictionSource => ({
  model: predictionModel,
  parameters: { name, validated: parameters.validated, hash: parameters.hash },
})
