/** Element types of matrices, and their layout in registers and shared memory. */
import { zeroRegister, type Operand } from '../sass/instruction'
import { bfloatOf, halfOf } from './float'
import { lanes, type Site } from './site'
import { smallFloats, smallOf } from './small-floats'

export interface Elements {
  /** Number of elements per 32-bit register. */
  packed: 1 | 2 | 4
  /**
   * Numeric value of each 16- or 8-bit pattern. Null for TF32, which is a float without its low
   * bits.
   */
  table: Float32Array | null
  /** Smallest normal magnitude, whose exponent is also used to align denormals. */
  leastNormal: number
}

/** Mask of the bits that TF32 keeps in a float. */
export const tensorFloatMask = ~0x1fff

export const leastFloat = 2 ** -126

const tables = new Map<(bits: number) => number, Float32Array>()

/** Returns a table of the function's values for all 16-bit patterns. Tables are cached. */
function tabled(toNumber: (bits: number) => number): Float32Array {
  const known = tables.get(toNumber)
  if (known) return known
  const table = Float32Array.from({ length: 65536 }, (_, bits) => toNumber(bits))
  tables.set(toNumber, table)
  return table
}

export const halfTable = (): Float32Array => tabled(halfOf)

const eights = {
  E4M3: (bits: number) => smallOf(bits & 0xff, smallFloats.e4m3),
  E5M2: (bits: number) => smallOf(bits & 0xff, smallFloats.e5m2),
}

/**
 * Returns an instruction's element type, which is TF32, BF16, FP8, or (by default) F16. For FP8, A
 * and B must have the same type.
 */
export function elementsOf(at: Site): Elements {
  if (at.has('TF32')) return { packed: 1, table: null, leastNormal: leastFloat }
  const [eight, other] = at.matching(/^E4M3$|^E5M2$/)
  if (eight === 'E4M3' || eight === 'E5M2')
    return eight === other
      ? {
          packed: 4,
          table: tabled(eights[eight]),
          leastNormal: eight === 'E4M3' ? 2 ** -6 : 2 ** -14,
        }
      : at.unknown()
  return at.has('BF16')
    ? { packed: 2, table: tabled(bfloatOf), leastNormal: leastFloat }
    : { packed: 2, table: halfTable(), leastNormal: 2 ** -14 }
}

const word = new Int32Array(1)

const float = new Float32Array(word.buffer)

/**
 * Reads a matrix fragment from registers. In each group of 8 rows, lane l has row l / 4. In each
 * group of 4 registers along k, lane l has register l % 4. `sources` lists the register rows,
 * starting with those for the first 8 matrix rows.
 */
export function readFragment(
  words: Int32Array,
  base: number,
  sources: readonly number[],
  { table, packed }: Elements,
  depth: number,
  rowsApart: number,
  into: Float64Array,
): void {
  const width = 32 / packed
  const mask = 2 ** width - 1
  for (let part = 0; part < sources.length; part++) {
    const source = sources[part]!
    const first = (part % rowsApart) * 8 * depth + 4 * packed * Math.floor(part / rowsApart)
    for (let lane = 0; lane < lanes; lane++) {
      const bits = source < 0 ? 0 : words[base + source + lane]!
      const at = first + (lane >> 2) * depth + packed * (lane & 3)
      if (table === null) {
        word[0] = bits & tensorFloatMask
        into[at] = float[0]!
      } else {
        for (let place = 0; place < packed; place++)
          into[at + place] = table[(bits >>> (width * place)) & mask]!
      }
    }
  }
}

/**
 * Returns the index of the first word of a register's row, relative to the warp's base. Returns -1
 * for RZ.
 */
export function rowOf(at: Site, operand: Operand, part: number): number {
  if (operand.kind !== 'register') return at.unknown()
  at.take(operand, 'value')
  return operand.index === zeroRegister ? -1 : (operand.index + part) * lanes
}

export const rows = 16
