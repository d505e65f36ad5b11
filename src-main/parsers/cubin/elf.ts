/**
 * Parses the parts of a 64-bit little-endian ELF file that cubins use.
 *
 * No bytes are copied, and every position is checked.
 */
import { damaged, Cursor, textAt } from './byte-cursor'

export interface Section {
  readonly name: string
  readonly type: number
  readonly flags: number
  /** Address in the loaded file. */
  readonly address: number
  /**
   * The section's bytes. Empty for `.nv.shared` and `.nv.global`, which have no bytes in the file.
   */
  readonly bytes: Uint8Array
  readonly size: number
  readonly link: number
  readonly info: number
}

interface Symbol {
  readonly name: string
  /** Symbol type: 1 for a variable, 2 for a function, 3 for a section. */
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
  /** Relocations, keyed by the index of the section to which they apply. */
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
  // A library without symbols has no symbol table. A cubin has exactly one symbol table.
  const [table, ...others] = sections.filter(({ type }) => type === symbolTable)
  if (others.length > 0) throw damaged('symbols')
  const symbols = table ? readSymbols(table, sections) : []
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
