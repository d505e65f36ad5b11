/**
 * Lists a function's machine code in ncu's format, with source lines and without operand-cache
 * flags.
 */
import { message, type Statement } from '../messages/message'
import type { Place } from '../session/deep'
import { decodeKernel, type UnknownInstruction } from './decode'
import { printInstruction, printOpcode } from './print'
import { placesOf } from './line-table'
import type { MachineFunction } from './machine-code'

interface ListedInstruction {
  offset: number
  text: string
  /** Opcode, including its modifiers. */
  opcode: string
  /**
   * Source lines, innermost first. The lines after the first one are call sites of inlined code.
   */
  places: Place[]
}

export interface Listing {
  instructions: ListedInstruction[]
  /**
   * Messages about unknown instructions. The listing itself shows no details for unknown
   * instructions.
   */
  unknown: Statement[]
}

const unknownText = 'UNKNOWN'

/** Maximum number of unknown instructions to report. */
const mostUnknown = 3

/**
 * Returns a function's listing. `nameOf` maps a path from the compiler to a file name in the
 * session.
 */
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
