import { inputError, type KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'

/** The parts of a cubin that can be damaged: their names are messages. */
export type Part =
  | 'container'
  | 'elfHeader'
  | 'sections'
  | 'symbols'
  | 'relocations'
  | 'attributes'
  | 'code'
  | 'lines'

export const damaged = (part: Part): KernelLadderError =>
  inputError(
    message('machineCode.damaged', { part: message(`machineCode.${part}`) }),
    message('machineCode.buildAgain'),
  )
