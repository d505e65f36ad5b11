/** What nvcc built of the kernels of one source file, as a loader sees it. `parsers/cubin` reads it from a cubin. */
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
import { printInstruction, printOpcode } from './print'

export interface MachineCode {
  /** 90 for sm_90. */
  readonly architecture: number
  readonly kernels: readonly MachineKernel[]
  /** Functions that kernels call in code of their own: not inlined, and not part of the kernel's section. */
  readonly functions: readonly MachineFunction[]
  /** `__device__` variables, and `.nv.global.init` strings such as printf's formats. */
  readonly globals: readonly GlobalVariable[]
  /** Bank 3: `__constant__` variables. Bank 4: addresses of variables and functions, by its relocations. */
  readonly constants: readonly ConstantBank[]
  /** `__constant__` variables: their places in bank 3. */
  readonly constantVariables: readonly {
    readonly name: string
    readonly offset: number
    readonly size: number
  }[]
  /** Who calls whom, by name; what is inlined is not in it. */
  readonly calls: readonly { readonly caller: string; readonly callee: string }[]
}

export interface MachineFunction {
  /** Mangled. */
  readonly name: string
  /** 16 bytes an instruction. */
  readonly code: Uint8Array
  readonly registers: number | null
  /** Stack that each thread needs for it: its local memory. */
  readonly frameBytes: number
  /** Subprograms in the code: the division of 64-bit integers is one. */
  readonly subprograms: readonly {
    readonly name: string
    readonly offset: number
    readonly size: number
  }[]
  readonly relocations: readonly Relocation[]
  /** By address; empty without `-lineinfo`. */
  readonly lines: readonly LineRow[]
}

export interface MachineKernel extends MachineFunction {
  readonly barriers: number
  /** Shared memory from address 0 that its variables take; on sm_90 they begin at 0x400, behind what the system keeps. */
  readonly sharedBytes: number
  /** All of its stack, with what it calls; null where that is not bounded. */
  readonly stackBytes: number | null
  /** Of `__launch_bounds__` and `__reqntid__`; null where it names none. */
  readonly maxThreads: readonly [number, number, number] | null
  readonly requiredThreads: readonly [number, number, number] | null
  readonly clusterBlocks: readonly [number, number, number] | null
  readonly parameters: ParameterLayout
  /** Bank 0 with the parameters' place, bank 2 with the compiler's constants. */
  readonly constants: readonly ConstantBank[]
}

export interface ParameterLayout {
  /** Where they begin in constant bank 0, and their bytes. */
  readonly base: number
  readonly size: number
  /** In order; `offset` from `base`. */
  readonly list: readonly { readonly offset: number; readonly size: number }[]
}

export interface ConstantBank {
  readonly bank: number
  readonly bytes: Uint8Array
  readonly relocations: readonly Relocation[]
}

export interface GlobalVariable {
  readonly name: string
  /** From the beginning of the module's variables, initialised ones first. */
  readonly offset: number
  readonly size: number
  /** Null for a variable that begins as zero. */
  readonly initial: Uint8Array | null
}

/** A place that the loader fills in with an address. */
export interface Relocation {
  /** In bytes, from the beginning of the code or of the bank. */
  readonly offset: number
  /** NVIDIA's number of how: 2 is a whole 64-bit address; 56 and 57 are its low and high half as an immediate. */
  readonly type: number
  /** The variable or function. */
  readonly symbol: string
  readonly addend: number
}

/** From `address` on, up to the next row. */
export interface LineRow {
  readonly address: number
  /** As the compiler was given it, with its folder. */
  readonly file: string
  readonly line: number
  /** Of inlined code: the function it comes from, and the place that it was inlined at. */
  readonly inlined: { readonly function: string; readonly at: LineRow } | null
}

/** Far deeper than templates nest; a damaged table can be deeper still. */
const deepestInlining = 100

/** Where an instruction comes from, innermost first; empty where nothing is known. */
export function placesOf(
  rows: readonly LineRow[],
  address: number,
): { file: string; line: number }[] {
  const places: { file: string; line: number }[] = []
  let row = rowAt(rows, address)
  for (; row && places.length < deepestInlining; row = row.inlined?.at)
    places.push({ file: row.file, line: row.line })
  return places
}

const inBuild = /[\\/]build[\\/][0-9a-f]{32}[\\/]src[\\/]/
const inToolkit = /(^|[\\/])(usr|targets|nvidia|cuda[^\\/]*)[\\/](.*[\\/])?include[\\/]/

/** Whether a path of the compiler is a header of CUDA or of the system. */
export const isToolkitHeader = (path: string): boolean =>
  !inBuild.test(path) && inToolkit.test(path)

/** Where an instruction comes from in the user's code: innermost, but outside of CUDA's headers where possible. */
export function userPlace(
  rows: readonly LineRow[],
  address: number,
): { file: string; line: number } | undefined {
  const places = placesOf(rows, address)
  return places.find(({ file }) => !isToolkitHeader(file)) ?? places[0]
}

/** The last row that begins at or before the address. */
export function rowAt(rows: readonly LineRow[], address: number): LineRow | undefined {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (rows[middle]!.address <= address) low = middle + 1
    else high = middle
  }
  return rows[low - 1]
}

// A function's machine code, line by line, as ncu lists it: text without the operand cache, and source lines.

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
