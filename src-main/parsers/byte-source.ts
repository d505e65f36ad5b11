/** Bytes read by offset, so that a large file is never completely in memory. */
export interface ByteSource {
  readonly size: number
  /** Returns the bytes from `at` on; fewer than `length` only at the end. They are valid until the next read. */
  read(at: number, length: number): Uint8Array
}

export const sourceOf = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: (at, length) => bytes.subarray(at, at + length),
})
