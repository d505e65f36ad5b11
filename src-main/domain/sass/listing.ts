/** A function's machine code, line by line, as ncu lists it: text without the operand cache, and source lines. */
import { message, type Statement } from '../messages/message'
import {
  type Place,
  deepSchemaVersion,
  type DeepKernel,
  type DeepProfile,
  type Instruction,
  type SourceLine,
  notCounted,
} from '../session/deep'
import { decodeKernel, type UnknownInstruction } from './decode'
import { placesOf, type MachineFunction, type MachineKernel } from './machine-code'
import { printInstruction, printOpcode } from './print'

export interface ListedInstruction {
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

// The page of a rung that was built and not run: its instructions with their source lines, without counters.

export interface BuiltKernel {
  /** As the launch names it. */
  readonly name: string
  readonly code: MachineKernel
  readonly architecture: number
}

/** `nameOf`: a path of the compiler as the session names the file. */
export function staticProfile(
  rung: string,
  launched: readonly BuiltKernel[],
  nameOf: (path: string) => string,
): DeepProfile {
  const notes: Statement[] = [message('deep.notCounted')]
  return {
    schema: deepSchemaVersion,
    rung,
    kernels: launched.map((kernel) => toKernel(kernel, nameOf, notes)),
    notes,
  }
}

function toKernel(
  { name, code, architecture }: BuiltKernel,
  nameOf: (path: string) => string,
  notes: Statement[],
): DeepKernel {
  if (code.lines.length === 0) notes.push(message('deep.noLines', { kernel: name }))
  const { instructions, unknown } = listingOf(code, architecture, nameOf)
  notes.push(...unknown)
  const lines = new Map<string, SourceLine>()
  for (const { file, line } of instructions.flatMap(({ places }) => places))
    lines.set(`${file}:${line}`, { file, line, text: null, ...notCounted })
  return {
    name,
    instructions: instructions.map(({ places, ...instruction }, index): Instruction => {
      const [place, ...inlinedFrom] = places
      return {
        index,
        ...instruction,
        file: place?.file ?? null,
        line: place?.line ?? null,
        ...(inlinedFrom.length > 0 ? { inlinedFrom } : {}),
        ...notCounted,
      }
    }),
    lines: [...lines.values()],
    opcodes: null,
    rules: [],
  }
}
