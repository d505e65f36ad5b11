/**
 * Parses a cubin as `MachineCode`. A cubin is an NVIDIA ELF file that contains a GPU's machine
 * code.
 *
 * Errors name the damaged part.
 */
import { readElf, type Elf, type Section } from './elf'
import type {
  ConstantBank,
  GlobalVariable,
  MachineCode,
  MachineFunction,
  MachineKernel,
  ParameterLayout,
  Relocation,
} from '../../domain/sass/machine-code'
import { instructionBytes } from '../../domain/sass/decode'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { readLineTable } from './line-table'
import type { LineRow } from '../../domain/sass/line-table'
import { attribute, readAttributes, wordsOf, type Attribute } from './nv-info'
import { Cursor, damaged } from './byte-cursor'

const cuda = 190
const functionType = 2
const objectType = 1
/** Architectures whose instruction encodings this program can decode. */
const architectures = [75, 80, 86, 89, 90]
const maxFileBytes = 256 * 2 ** 20

export function readCubin(bytes: Uint8Array): MachineCode {
  if (bytes.length > maxFileBytes)
    throw inputError(message('machineCode.tooLarge'), message('machineCode.buildFewer'))
  const elf = readElf(bytes)
  if (elf.machine !== cuda) throw damaged('elfHeader')
  // Since ABI version 8 (CUDA 13), the architecture is in bits 8 to 15 of the flags.
  const moved = elf.abiVersion >= 8
  const architecture = (moved ? elf.flags >>> 8 : elf.flags) & 255
  if (!architectures.includes(architecture))
    throw inputError(
      message('machineCode.otherArchitecture', { architecture: `sm_${architecture}` }),
      message('machineCode.buildForKnown', {
        architectures: architectures.map((each) => `sm_${each}`).join(', '),
      }),
    )

  const attributes = attributesBySymbol(elf)
  const lines = linesByFunction(elf)
  const functions = codeSections(elf).map(({ section, index, name }) =>
    readFunction(elf, { section, index, name }, attributes, lines.get(name) ?? []),
  )
  return {
    architecture,
    kernels: functions.filter((each): each is MachineKernel => 'parameters' in each),
    functions: functions.filter((each) => !('parameters' in each)),
    globals: readGlobals(elf),
    constants: [3, 4].flatMap((bank) => readBank(elf, bank, `.nv.constant${bank}`)),
    constantVariables: readConstantVariables(elf),
    calls: readCalls(elf),
  }
}

interface CodeSection {
  section: Section
  index: number
  name: string
}

function codeSections(elf: Elf): CodeSection[] {
  const found = elf.sections.flatMap((section, index) =>
    section.name.startsWith('.text.')
      ? [{ section, index, name: section.name.slice('.text.'.length) }]
      : [],
  )
  for (const { section } of found)
    if (section.bytes.length === 0 || section.bytes.length % instructionBytes !== 0)
      throw damaged('code')
  return found
}

type AttributesOf = ReadonlyMap<string, readonly Attribute[]>

/** Returns all register and stack attributes in the file, grouped by function. */
function attributesBySymbol({ sections, symbols }: Elf): AttributesOf {
  const bySymbol = new Map<string, Attribute[]>()
  const section = sections.find(({ name }) => name === '.nv.info')
  for (const each of section ? readAttributes(section.bytes) : []) {
    if (each.block.length < 8) continue
    const name = symbols[wordsOf(each, 1)[0]!]?.name
    if (name === undefined) throw damaged('attributes')
    bySymbol.set(name, [...(bySymbol.get(name) ?? []), each])
  }
  return bySymbol
}

function linesByFunction(elf: Elf): Map<string, LineRow[]> {
  const index = elf.sections.findIndex(({ name }) => name === '.debug_line')
  const section = elf.sections[index]
  if (!section) return new Map()
  const names = elf.sections.find(({ name }) => name === '.debug_str')?.bytes ?? new Uint8Array()
  return readLineTable(section.bytes, names, elf.relocations.get(index) ?? [])
}

function readFunction(
  elf: Elf,
  { section, index, name }: CodeSection,
  attributes: AttributesOf,
  lines: LineRow[],
): MachineFunction | MachineKernel {
  const sizes = attributes.get(name) ?? []
  const size = (number: number): number | null => {
    const found = sizes.find((each) => each.number === number)
    return found ? wordsOf(found, 2)[1]! : null
  }
  const common: MachineFunction = {
    name,
    code: section.bytes,
    registers: size(attribute.registers),
    frameBytes: size(attribute.frameSize) ?? 0,
    subprograms: elf.symbols
      .filter((each) => each.type === functionType && each.section === index && each.name !== name)
      .map(({ name, value, size }) => ({ name, offset: value, size })),
    relocations: relocationsOf(elf, index, section.bytes.length),
    lines,
  }
  const own = elf.sections.find((each) => each.name === `.nv.info.${name}`)
  const list = own ? readAttributes(own.bytes) : []
  const parameters = parameterLayout(list)
  if (!parameters) return common

  const threads = (number: number): [number, number, number] | null => {
    const found = list.find((each) => each.number === number)
    return found ? (wordsOf(found, 3) as [number, number, number]) : null
  }
  return {
    ...common,
    barriers: list.find((each) => each.number === attribute.barriers)?.value ?? 0,
    sharedBytes: elf.sections.find((each) => each.name === `.nv.shared.${name}`)?.size ?? 0,
    stackBytes: size(attribute.minStackSize),
    maxThreads: threads(attribute.maxThreads),
    requiredThreads: threads(attribute.requiredThreads),
    clusterBlocks: threads(attribute.clusterBlocks),
    parameters,
    constants: [0, 2].flatMap((bank) => readBank(elf, bank, `.nv.constant${bank}.${name}`)),
  }
}

/** Returns a kernel's parameter layout, or null if the function is not a kernel. */
function parameterLayout(attributes: readonly Attribute[]): ParameterLayout | null {
  const bank = attributes.find((each) => each.number === attribute.parameterBank)
  if (!bank) return null
  // The word after the bank's symbol contains the parameters' offset within the bank and their
  // total size in bytes.
  const place = wordsOf(bank, 2)[1]!
  const [base, size] = [place & 0xffff, place >>> 16]
  const list = attributes
    .filter((each) => each.number === attribute.parameter)
    .map((each) => {
      const cursor = new Cursor(each.block, 'attributes', 4)
      const [ordinal, offset, packed] = [cursor.u16(), cursor.u16(), cursor.u32()]
      return { ordinal, offset, size: packed >>> 18 }
    })
    .sort((a, b) => a.ordinal - b.ordinal)
  if (list.some((each, index) => each.ordinal !== index || each.offset + each.size > size))
    throw damaged('attributes')
  return { base, size, list: list.map(({ offset, size }) => ({ offset, size })) }
}

function relocationsOf(elf: Elf, section: number, bytes: number): Relocation[] {
  return (elf.relocations.get(section) ?? []).map(({ offset, type, symbol, addend }) => {
    if (offset >= bytes) throw damaged('relocations')
    const name = symbol.name === '' ? elf.sections[symbol.section]?.name : symbol.name
    if (name === undefined) throw damaged('relocations')
    return { offset, type, symbol: name, addend }
  })
}

function readBank(elf: Elf, bank: number, name: string): ConstantBank[] {
  const index = elf.sections.findIndex((section) => section.name === name)
  const section = elf.sections[index]
  if (!section) return []
  const { bytes } = section
  return [{ bank, bytes, relocations: relocationsOf(elf, index, bytes.length) }]
}

function readGlobals({ sections, symbols }: Elf): GlobalVariable[] {
  let base = 0
  return ['.nv.global.init', '.nv.global'].flatMap((name) => {
    const index = sections.findIndex((section) => section.name === name)
    const section = sections[index]
    if (!section) return []
    const own = symbols.filter(({ type, section: of }) => type === objectType && of === index)
    const end = Math.max(0, ...own.map(({ value, size }) => value + size))
    // If a section of 4 GiB or more has no bytes in the file, nvcc stores only the size's low 32
    // bits.
    const wraps = section.bytes.length === 0 && end % 2 ** 32 === section.size
    if (end > section.size && !wraps) throw damaged('symbols')
    const start = base
    base += Math.ceil(Math.max(end, section.size) / 256) * 256
    return own.map(({ name, value, size }) => ({
      name,
      offset: start + value,
      size,
      initial: section.bytes.length > 0 ? section.bytes.subarray(value, value + size) : null,
    }))
  })
}

function readConstantVariables({ sections, symbols }: Elf): MachineCode['constantVariables'] {
  const index = sections.findIndex(({ name }) => name === '.nv.constant3')
  return symbols
    .filter((symbol) => symbol.type === objectType && symbol.section === index)
    .map(({ name, value, size }) => {
      if (value + size > sections[index]!.size) throw damaged('symbols')
      return { name, offset: value, size }
    })
}

/**
 * Returns the callers' and callees' names. Skips callee values of -4 and above, which refer to code
 * outside the file.
 */
function readCalls({ sections, symbols }: Elf): { caller: string; callee: string }[] {
  const section = sections.find(({ name }) => name === '.nv.callgraph')
  if (!section) return []
  const cursor = new Cursor(section.bytes, 'symbols')
  const calls = []
  while (cursor.left > 0) {
    const [from, to] = [cursor.u32(), cursor.u32()]
    if (from === 0 || to >= 0xfffffff0) continue
    const [caller, callee] = [symbols[from]?.name, symbols[to]?.name]
    if (caller === undefined || callee === undefined) throw damaged('symbols')
    calls.push({ caller, callee })
  }
  return calls
}
