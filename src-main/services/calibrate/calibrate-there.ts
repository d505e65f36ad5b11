/** Calibrates the GPU of another machine: the program does it there, and the parameters come here. */
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

/** What it prints there is read as a stranger's file would be. */
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
