/** A file that is read at given offsets, so that the whole file need not fit in memory. */
export interface ByteSource {
  readonly size: number
  /**
   * Returns the bytes starting at `at`. Returns fewer than `length` bytes only at the end of the
   * file. The bytes are valid until the next read.
   */
  read(at: number, length: number): Uint8Array
}

export const sourceOf = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: (at, length) => bytes.subarray(at, at + length),
})
