/**
 * Finds the cubins in a library or program built by nvcc, or in a cubin file.
 *
 * A fat binary is a header followed by a list of entries, one per architecture. Each entry is a
 * cubin or PTX, compressed or uncompressed.
 */
import { readElf, isElf } from './elf'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { Cursor, damaged } from './byte-cursor'

const magic = 0xba55ed50

const headerBytes = 16

const cubinKind = 2

/** Entry flags for LZ4 compression and zstd compression. */
const compressed = 0x2000 | 0x8000

const cudaMachine = 190

/**
 * Returns each cubin's bytes for `readCubin`, in file order. Returns an empty list for any other
 * file.
 */
export function cubinsOf(file: Uint8Array): Uint8Array[] {
  if (!isElf(file)) return isContainer(file) ? readContainer(file) : []
  const { machine, sections } = readElf(file)
  if (machine === cudaMachine) return [file]
  // Prefer the linked section. In relocatable device code, the linked section is the one that runs.
  const named = (wanted: string) => sections.filter(({ name }) => name === wanted)
  const linked = named('.nv_fatbin')
  return (linked.length > 0 ? linked : named('__nv_relfatbin')).flatMap(({ bytes }) =>
    readContainer(bytes),
  )
}

const isContainer = (bytes: Uint8Array): boolean =>
  bytes.length >= headerBytes && new Cursor(bytes, 'container').u32() === magic

function readContainer(bytes: Uint8Array): Uint8Array[] {
  const cursor = new Cursor(bytes, 'container')
  const cubins: Uint8Array[] = []
  while (cursor.left >= headerBytes) {
    const start = cursor.at
    if (cursor.u32() !== magic) throw damaged('container')
    cursor.u16()
    const header = cursor.u16()
    const size = cursor.u64()
    // A header of zero length would cause an endless loop.
    if (header < headerBytes) throw damaged('container')
    cursor.at = start
    cursor.take(header)
    cubins.push(...readEntries(cursor.take(size)))
    // Containers begin at multiples of 8 bytes.
    cursor.at += Math.min((8 - (cursor.at % 8)) % 8, cursor.left)
  }
  return cubins
}

function readEntries(bytes: Uint8Array): Uint8Array[] {
  const cursor = new Cursor(bytes, 'container')
  const cubins: Uint8Array[] = []
  while (cursor.left > 0) {
    const start = cursor.at
    const kind = cursor.u16()
    cursor.u16()
    const header = cursor.u32()
    const size = cursor.u64()
    cursor.at = start + 40
    const flags = cursor.u32()
    if (header < 64) throw damaged('container')
    cursor.at = start
    cursor.take(header)
    const content = cursor.take(size)
    if (kind !== cubinKind) continue
    if (flags & compressed)
      throw inputError(message('machineCode.compressed'), message('machineCode.dontCompress'))
    cubins.push(content)
  }
  return cubins
}
