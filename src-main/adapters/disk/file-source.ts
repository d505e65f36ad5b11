/** A file as a source of bytes. It is open only while it is read, so that nobody has to close it. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { ByteSource } from '../../parsers/byte-source'

/** Small reads that follow each other share one read of the file. */
const windowBytes = 2 ** 12

export function fileSource(path: string): ByteSource {
  const { size } = statSync(path)
  let [start, window] = [0, new Uint8Array(0)]
  return {
    size,
    read(at, length) {
      const wanted = Math.max(0, Math.min(length, size - at))
      if (wanted > windowBytes / 4) return readAt(path, at, wanted)
      if (at < start || at + wanted > start + window.length)
        [start, window] = [at, readAt(path, at, Math.min(windowBytes, size - at))]
      return window.subarray(at - start, at - start + wanted)
    },
  }
}

function readAt(path: string, at: number, length: number): Uint8Array<ArrayBuffer> {
  const file = openSync(path, 'r')
  try {
    const bytes = new Uint8Array(length)
    let done = 0
    while (done < length) {
      const count = readSync(file, bytes, done, length - done, at + done)
      if (count === 0) break
      done += count
    }
    return bytes.subarray(0, done)
  } finally {
    closeSync(file)
  }
}
