/**
 * Decompresses zstd files in blocks. Versions of Node.js before 22.15 have no built-in zstd
 * support.
 */
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { Decompress } from 'fzstd'

export const isZstd = (start: Uint8Array): boolean =>
  [0x28, 0xb5, 0x2f, 0xfd].every((byte, index) => start[index] === byte)

/**
 * Decompression outcome. After a failure, the output file contains everything before the damaged
 * block.
 */
export type Unpacked = 'whole' | 'damaged' | 'too-large'

class TooLarge extends Error {}

export async function unpackZstd(from: string, to: string, mostBytes: number): Promise<Unpacked> {
  const file = openSync(to, 'wx', 0o600)
  let written = 0
  const stream = new Decompress((bytes) => {
    written += bytes.length
    if (written > mostBytes) throw new TooLarge()
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  })
  try {
    for await (const chunk of createReadStream(from, { highWaterMark: 2 ** 16 }))
      unpack(stream, chunk as Uint8Array)
    unpack(stream, new Uint8Array(0), true)
    return 'whole'
  } catch (error) {
    if (error instanceof TooLarge) return 'too-large'
    if (error instanceof Damaged) return 'damaged'
    throw error
  } finally {
    closeSync(file)
  }
}

class Damaged extends Error {}

function unpack(stream: Decompress, bytes: Uint8Array, isLast = false): void {
  try {
    stream.push(bytes, isLast)
  } catch (error) {
    // A disk error's code is a string, and a decoder error's code is a number.
    if (error instanceof TooLarge || typeof (error as { code?: unknown }).code === 'string')
      throw error
    throw new Damaged()
  }
}
