/** Finds nvcc and the driver of a machine, or says what is missing. */
import { askDriver, type NvidiaSmi } from '../../adapters/tools/gpus'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { message } from '../../domain/messages/message'
import { KernelLadderError, missingError } from '../../domain/errors'

export const remedies = {
  nvcc: message('doctor.installNvcc'),
  gpu: message('doctor.useGpu'),
  ncu: message('doctor.installNcu'),
  sanitizer: message('doctor.installSanitizer'),
} as const

export async function locateNvcc(toolbox: Toolbox): Promise<string> {
  const path = await toolbox.locate('nvcc')
  if (path) return path
  throw missingError(message('doctor.toolMissing', { tool: 'nvcc' }), remedies.nvcc)
}

/** What the driver reports about its GPUs. */
export async function queryDriver(toolbox: Toolbox, signal?: AbortSignal): Promise<NvidiaSmi> {
  const driver = await askDriver(toolbox, signal)
  if (!driver) throw missingError(message('doctor.noGpu'), remedies.gpu)
  const { answer, result } = driver
  if (result.outcome === 'cancelled')
    throw new KernelLadderError('cancelled', message('asked.cancelled'))
  if (!answer)
    throw missingError(
      message('tools.driverSilent', {
        text:
          (result.stdout + result.stderr).trim().split('\n')[0] ||
          message('tools.smiEnded', { exitCode: `${result.exitCode}` }),
      }),
      message('tools.checkDriver'),
    )
  if (answer.gpus.length === 0) throw missingError(message('tools.noGpuFound'), remedies.gpu)
  return answer
}
