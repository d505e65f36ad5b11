/** Finds a machine's nvcc and driver, or reports what is missing. */
import { askDriver, type NvidiaSmi } from '../../adapters/tools/gpus'
import type { Machine } from '../../adapters/machine/machine'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { message, says, together, type Statement } from '../../domain/messages/message'
import { KernelLadderError, missingError, toErrorShape } from '../../domain/errors'

const needsGpu = message('doctor.useGpu')

export const remedies = {
  nvcc: message('doctor.installNvcc'),
  /** Advice for an installation that, unlike other packages, has no shipped builds. */
  withoutBuilds: together(message('doctor.installNvcc'), message('doctor.installPackage')),
  notShipped: together(message('doctor.installNvcc'), message('doctor.buildElsewhere')),
  gpu: needsGpu,
  /**
   * Advice for work that can also run on another target. Most users without a GPU need this advice.
   */
  otherTarget: together(
    message('doctor.tryEmulated'),
    message('doctor.tryPredicted'),
    message('doctor.tryRecorded'),
    message('doctor.tryStatic'),
    needsGpu,
  ),
  ncu: message('doctor.installNcu'),
  sanitizer: message('doctor.installSanitizer'),
} as const

export async function locateNvcc(
  toolbox: Toolbox,
  remedy: Statement = remedies.nvcc,
): Promise<string> {
  const path = await toolbox.locate('nvcc')
  if (path) return path
  throw missingError(message('doctor.toolMissing', { tool: 'nvcc' }), remedy)
}

/** Queries the driver for its GPUs. */
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

/**
 * Whether the machine has nvidia-smi. Running nvidia-smi would take half a second, so only the file
 * is checked.
 */
export const hasGpu = async (machine: Machine): Promise<boolean> =>
  (await machine.toolbox(null).locate('nvidia-smi')) !== null

/**
 * If the error is about a missing GPU, returns an error whose remedy also lists the targets that
 * need no GPU. Returns any other error unchanged.
 */
export function orOtherTarget(error: unknown): unknown {
  const { kind, message: why, remedy } = toErrorShape(error)
  return says(remedy, 'doctor.useGpu')
    ? new KernelLadderError(kind, why, remedies.otherTarget)
    : error
}
