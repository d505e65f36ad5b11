/** The host code of a library that nvcc built: what of it runs without being called, and which functions it has from elsewhere. */
import { Cursor, isElf, readElf, textAt, type Elf, type RawRelocation, type Section } from './elf'

export interface HostCode {
  /** What runs when the library is loaded or unloaded, beyond what every library of nvcc has; a symbol where there is one. */
  unasked: string[]
  /** The functions that it imports, each once, as they are called in machine code. */
  imports: string[]
}

const initArrays: readonly number[] = [14, 16]
const finiArray = 15
const dynamicSymbols = 11
const resolvedAtLoad = { symbolType: 10, relocationType: 37 }
const relocatesBase = 8
const executable = 4

/** `.init` and `.fini` of the C library's start files: 23 to 27 and 9 to 13 bytes. */
const mostBytes: Readonly<Record<string, number>> = { '.init': 32, '.fini': 16 }

/** What nvcc and g++ put there, each once: the frame tables, and the registration of kernels. */
const usual = new Set(['frame_dummy', '__do_global_dtors_aux', '_ZL24__sti____cudaRegisterAllv'])

/** Null for what is no ELF file, which no program can load either. Throws for a damaged one. */
export function hostCodeOf(bytes: Uint8Array): HostCode | null {
  if (!isElf(bytes)) return null
  const elf = readElf(bytes)
  return {
    unasked: [...runsUnasked(elf), ...resolvers(elf), ...addedToStart(elf)],
    imports: [...new Set(dynamicNames(elf))],
  }
}

/** Constructors and destructors. A name of `usual` is so once; what bears it again is not. */
function runsUnasked(elf: Elf): string[] {
  const byPlace = new Map(
    elf.symbols.filter(({ type }) => type === 2).map(({ value, name }) => [value, name]),
  )
  const all = [...elf.relocations.values()].flat()
  const free = new Set(usual)
  return elf.sections.flatMap((section) => {
    if (!initArrays.includes(section.type) && section.type !== finiArray) return []
    const names = entriesOf(section, all).map((place) => byPlace.get(place) ?? section.name)
    // The rest of the name of those of static objects is a temporary file.
    return names
      .filter((name) => !free.delete(name))
      .map((name) => name.replace(/^(_GLOBAL__sub_[ID])_.*/, '$1'))
  })
}

/** The functions that an array names: by relocations, or as they stand there. −1 for what is only known when it is loaded. */
function entriesOf({ bytes, address }: Section, relocations: readonly RawRelocation[]): number[] {
  const places = new Map(
    relocations.map(({ offset, type, addend }) => [offset, type === relocatesBase ? addend : -1]),
  )
  const table = new Cursor(bytes, 'sections')
  return Array.from({ length: Math.floor(bytes.length / 8) }, (_, index) => {
    const written = table.i64()
    return places.get(address + 8 * index) ?? written
  })
}

/** Functions that are chosen by code of the library while it is loaded (`ifunc`). */
function resolvers({ symbols, relocations }: Elf): string[] {
  const named = symbols.filter(({ type }) => type === resolvedAtLoad.symbolType)
  const isNameless = [...relocations.values()]
    .flat()
    .some(({ type }) => type === resolvedAtLoad.relocationType)
  return named.length > 0 ? named.map(({ name }) => name) : isNameless ? ['ifunc'] : []
}

/** Code that was added to what starts and ends every library. */
const addedToStart = ({ sections }: Elf): string[] =>
  sections
    .filter(({ name, flags, size }) => flags & executable && size > (mostBytes[name] ?? Infinity))
    .map(({ name }) => name)

function dynamicNames({ sections }: Elf): string[] {
  const table = sections.find(({ type }) => type === dynamicSymbols)
  const names = table && sections[table.link]?.bytes
  if (!names) return []
  const symbols = new Cursor(table.bytes, 'symbols')
  return Array.from({ length: Math.floor(table.bytes.length / 24) }, () => {
    const name = textAt(names, symbols.u32(), 'symbols')
    symbols.u16()
    const section = symbols.u16()
    symbols.take(16)
    return section === 0 ? name : ''
  }).filter((name) => name !== '')
}
