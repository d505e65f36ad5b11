/** Lists a function's machine code as ncu does: text without operand-cache flags, and source lines. */
import { message, type Statement } from '../messages/message'
import type { Place } from '../session/deep'
import { decodeKernel, type UnknownInstruction } from './decode'
import { printInstruction, printOpcode } from './print'
import { placesOf } from './line-table'
import type { MachineFunction } from './machine-code'

interface ListedInstruction {
  offset: number
  text: string
  /** With its modifiers. */
  opcode: string
  /** Innermost first; the others are the places where it was inlined. */
  places: Place[]
}

export interface Listing {
  instructions: ListedInstruction[]
  /** Unknown instructions; their text contains no more detail. */
  unknown: Statement[]
}

const unknownText = 'UNKNOWN'

/** Maximum number of unknown instructions reported. */
const mostUnknown = 3

/** Lists a function. `nameOf` maps a compiler path to the session's file name. */
export function listingOf(
  { code, lines }: Pick<MachineFunction, 'code' | 'lines'>,
  architecture: number,
  nameOf: (path: string) => string,
): Listing {
  const unknown: Statement[] = []
  const instructions = decodeKernel(code, architecture).map((decoded): ListedInstruction => {
    const isUnknown = 'unknown' in decoded
    if (isUnknown && unknown.length < mostUnknown) unknown.push(unknownStatement(decoded))
    return {
      offset: decoded.address,
      text: isUnknown ? unknownText : printInstruction(decoded, { reuse: false }),
      opcode: isUnknown ? unknownText : printOpcode(decoded),
      places: placesOf(lines, decoded.address).map(({ file, line }) => ({
        file: nameOf(file),
        line,
      })),
    }
  })
  return { instructions, unknown }
}

const unknownStatement = ({ address, words }: UnknownInstruction): Statement =>
  message('machineCode.unknownInstruction', {
    address: `0x${address.toString(16)}`,
    bits: `0x${[...words]
      .reverse()
      .map((word) => word.toString(16).padStart(8, '0'))
      .join('')}`,
  })
