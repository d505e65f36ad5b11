/**
 * Provides a file as a byte source. The file is open only during a read, so callers need not close
 * it.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { ByteSource } from '../../parsers/byte-source'

/** Number of bytes per read. A single read of the file serves consecutive small requests. */
const windowBytes = 2 ** 12

export function fileSource(path: string): ByteSource {
  const { size } = statSync(path)
  // All reads share one buffer, to reduce garbage collection.
  let buffer = new Uint8Array(windowBytes)
  let [start, end] = [0, 0]
  return {
    size,
    read(at, length) {
      const wanted = Math.max(0, Math.min(length, size - at))
      if (at < start || at + wanted > end) {
        const count = Math.min(Math.max(wanted, windowBytes), size - at)
        if (count > buffer.length) buffer = new Uint8Array(count)
        start = at
        end = at + readAt(path, at, buffer.subarray(0, count))
      }
      return buffer.subarray(at - start, Math.min(at + wanted, end) - start)
    },
  }
}

/**
 * Reads bytes into a buffer and returns the number of bytes read. At the end of the file, fewer
 * bytes than requested are read.
 */
function readAt(path: string, at: number, into: Uint8Array): number {
  const file = openSync(path, 'r')
  try {
    let done = 0
    while (done < into.length) {
      const count = readSync(file, into, done, into.length - done, at + done)
      if (count === 0) break
      done += count
    }
    return done
  } finally {
    closeSync(file)
  }
}
