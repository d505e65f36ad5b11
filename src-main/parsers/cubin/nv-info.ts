/**
 * Parses a cubin's `.nv.info` sections, which are lists of attributes.
 *
 * An attribute has a format byte, a number (EIATTR_*), and a value. The value is empty, a byte, a
 * half word, or a block with its length. Attributes that this program does not use are skipped.
 */
import { Cursor, damaged } from './byte-cursor'

export const attribute = {
  maxThreads: 0x05,
  parameterBank: 0x0a,
  externs: 0x0f,
  requiredThreads: 0x10,
  frameSize: 0x11,
  minStackSize: 0x12,
  parameter: 0x17,
  parameterBytes: 0x19,
  maxStackSize: 0x23,
  registers: 0x2f,
  clusterBlocks: 0x3d,
  barriers: 0x4c,
} as const

export interface Attribute {
  readonly number: number
  /** The attribute's value if it is a byte or half word, or 0 if it is a block. */
  readonly value: number
  readonly block: Uint8Array
}

const empty = new Uint8Array()

export function readAttributes(bytes: Uint8Array): Attribute[] {
  const cursor = new Cursor(bytes, 'attributes')
  const attributes: Attribute[] = []
  while (cursor.left > 0) {
    const format = cursor.u8()
    const number = cursor.u8()
    const value = cursor.u16()
    if (format < 1 || format > 4) throw damaged('attributes')
    attributes.push(
      format === 4
        ? { number, value: 0, block: cursor.take(value) }
        : { number, value, block: empty },
    )
  }
  return attributes
}

/** Returns the 32-bit words of an attribute's block. */
export function wordsOf({ block }: Attribute, count: number): number[] {
  const cursor = new Cursor(block, 'attributes')
  return Array.from({ length: count }, () => cursor.u32())
}
