/** A function's machine code as ncu lists it: text without the operand cache, and source lines. */
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
  /** Innermost first; the others are where it was inlined. */
  places: Place[]
}

export interface Listing {
  instructions: ListedInstruction[]
  /** Which instructions are not known: their text says no more. */
  unknown: Statement[]
}

const unknownText = 'UNKNOWN'

/** After these, more would say nothing more. */
const mostUnknown = 3

/** `nameOf`: a path of the compiler as the session names the file. */
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
