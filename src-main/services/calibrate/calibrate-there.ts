/**
 * Calibrates a remote machine's GPU. The program runs on the remote machine, and the parameters are
 * copied back.
 */
import type { Folders } from '../../adapters/machine/machine'
import { KernelLadderError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { readGpuParameters } from '../../domain/prediction/gpu-parameters'
import { runWords } from '../remote/remote-job'
import type { Calibration } from './calibrate'

interface Options {
  signal: AbortSignal
  onNote: (text: string) => void
  onNotice: (notice: Statement) => void
}

/** Runs the calibration and validates its output, because a remote machine is untrusted. */
export async function calibrateThere(
  folders: Pick<Folders, 'config'>,
  name: string,
  words: readonly string[],
  options: Options,
): Promise<Calibration> {
  const { stdout } = await runWords(folders, name, { send: null, words: () => words }, options)
  let document: unknown
  try {
    document = JSON.parse(stdout)
  } catch {
    throw new KernelLadderError('failed', message('calibration.there', { name }))
  }
  const { parameters, output } = (document ?? {}) as { parameters?: unknown; output?: unknown }
  if (parameters === undefined || typeof output !== 'string')
    throw new KernelLadderError('failed', message('calibration.there', { name }))
  return { parameters: readGpuParameters(JSON.stringify(parameters), name), output }
}
