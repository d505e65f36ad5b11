/** The bytes of an ELF file: a cursor that checks every place, the parts that cubins use, and what is damaged named by its part. */
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

/** Little-endian reading that stays inside of a part; a read beyond its end says that the part is damaged. */
export class Cursor {
  readonly #view: DataView
  constructor(
    readonly bytes: Uint8Array,
    readonly part: Part,
    public at = 0,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (at > bytes.length) throw damaged(part)
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  #skip(length: number): number {
    if (length > this.left) throw damaged(this.part)
    this.at += length
    return this.at - length
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1))
  }

  u16(): number {
    return this.#view.getUint16(this.#skip(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4), true)
  }

  /** What does not fit into 53 bits cannot be a place or a size in a file. */
  u64(): number {
    const value = Number(this.#view.getBigUint64(this.#skip(8), true))
    if (!Number.isSafeInteger(value)) throw damaged(this.part)
    return value
  }

  i64(): number {
    return Number(this.#view.getBigInt64(this.#skip(8), true))
  }

  uleb(): number {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = this.u8()
      value += (byte & 127) * shift
      if (byte < 128) return value
      if (shift > 2 ** 42) throw damaged(this.part)
    }
  }

  sleb(): number {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = this.u8()
      value += (byte & 127) * shift
      if (byte < 128) return byte & 64 ? value - shift * 128 : value
      if (shift > 2 ** 42) throw damaged(this.part)
    }
  }

  take(length: number): Uint8Array {
    const start = this.#skip(length)
    return this.bytes.subarray(start, this.at)
  }

  /** Up to its zero byte, which is passed over. */
  text(): string {
    const length = this.bytes.subarray(this.at, this.at + maxText).indexOf(0)
    if (length < 0) throw damaged(this.part)
    const end = this.at + length
    const text = decoder.decode(this.bytes.subarray(this.at, end))
    this.at = end + 1
    return text
  }
}

/** More than the longest mangled name, and little enough to be read for every symbol of a damaged table. */
const maxText = 2 ** 14

const decoder = new TextDecoder()

export const textAt = (bytes: Uint8Array, at: number, part: Part): string =>
  new Cursor(bytes, part, at).text()

// The parts of a 64-bit little-endian ELF file that cubins use. Nothing is copied; every place is checked.

export interface Section {
  readonly name: string
  readonly type: number
  readonly flags: number
  /** Where it is once the file is loaded. */
  readonly address: number
  /** Empty for a section without bytes in the file (`.nv.shared`, `.nv.global`). */
  readonly bytes: Uint8Array
  readonly size: number
  readonly link: number
  readonly info: number
}

export interface Symbol {
  readonly name: string
  /** 2: a function, 1: a variable, 3: a section. */
  readonly type: number
  readonly section: number
  readonly value: number
  readonly size: number
}

export interface RawRelocation {
  readonly offset: number
  readonly type: number
  readonly symbol: Symbol
  readonly addend: number
}

export interface Elf {
  readonly osAbi: number
  readonly abiVersion: number
  readonly machine: number
  readonly flags: number
  readonly sections: readonly Section[]
  readonly symbols: readonly Symbol[]
  /** By the index of the section that they are for. */
  readonly relocations: ReadonlyMap<number, readonly RawRelocation[]>
}

const magic = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]
const sectionBytes = 64
const symbolBytes = 24
const noBits = 8
const symbolTable = 2
const withAddend = 4
const withoutAddend = 9

export const isElf = (bytes: Uint8Array): boolean =>
  magic.every((byte, index) => bytes[index] === byte)

export function readElf(bytes: Uint8Array): Elf {
  if (!isElf(bytes)) throw damaged('elfHeader')
  const header = new Cursor(bytes, 'elfHeader', magic.length)
  const osAbi = header.u8()
  const abiVersion = header.u8()
  header.at = 18
  const machine = header.u16()
  header.at = 40
  const sectionsAt = header.u64()
  const flags = header.u32()
  header.at = 58
  const [entryBytes, count, namesIndex] = [header.u16(), header.u16(), header.u16()]
  if (entryBytes !== sectionBytes || count === 0) throw damaged('elfHeader')

  const sections = readSections(bytes, sectionsAt, count, namesIndex)
  const tables = sections.filter(({ type }) => type === symbolTable)
  if (tables.length !== 1) throw damaged('symbols')
  const symbols = readSymbols(tables[0]!, sections)
  return {
    osAbi,
    abiVersion,
    machine,
    flags,
    sections,
    symbols,
    relocations: readRelocations(sections, symbols),
  }
}

function readSections(bytes: Uint8Array, at: number, count: number, namesIndex: number): Section[] {
  const table = new Cursor(bytes, 'sections', at)
  const found = Array.from({ length: count }, () => {
    const nameAt = table.u32()
    const type = table.u32()
    const flags = table.u64()
    const address = table.u64()
    const [offset, size] = [table.u64(), table.u64()]
    const [link, info] = [table.u32(), table.u32()]
    table.take(16)
    const empty = type === noBits || type === 0
    if (!empty && offset + size > bytes.length) throw damaged('sections')
    const content = empty ? bytes.subarray(0, 0) : bytes.subarray(offset, offset + size)
    return { nameAt, type, flags, address, bytes: content, size, link, info }
  })
  const names = found[namesIndex]
  if (!names) throw damaged('sections')
  return found.map(({ nameAt, ...section }) => ({
    name: section.type === 0 ? '' : textAt(names.bytes, nameAt, 'sections'),
    ...section,
  }))
}

function readSymbols({ bytes, link }: Section, sections: readonly Section[]): Symbol[] {
  const names = sections[link]?.bytes
  if (!names || bytes.length % symbolBytes !== 0) throw damaged('symbols')
  const table = new Cursor(bytes, 'symbols')
  return Array.from({ length: bytes.length / symbolBytes }, () => {
    const name = textAt(names, table.u32(), 'symbols')
    const type = table.u8() & 15
    table.u8()
    const section = table.u16()
    return { name, type, section, value: table.u64(), size: table.u64() }
  })
}

function readRelocations(
  sections: readonly Section[],
  symbols: readonly Symbol[],
): Map<number, RawRelocation[]> {
  const relocations = new Map<number, RawRelocation[]>()
  for (const { type, bytes, info } of sections) {
    if (type !== withAddend && type !== withoutAddend) continue
    const entryBytes = type === withAddend ? 24 : 16
    if (bytes.length % entryBytes !== 0) throw damaged('relocations')
    const table = new Cursor(bytes, 'relocations')
    const list = relocations.get(info) ?? []
    relocations.set(info, list)
    while (table.left > 0) {
      const offset = table.u64()
      const [kind, index] = [table.u32(), table.u32()]
      const addend = type === withAddend ? table.i64() : 0
      const symbol = symbols[index]
      if (!symbol) throw damaged('relocations')
      list.push({ offset, type: kind, symbol, addend })
    }
  }
  return relocations
}
