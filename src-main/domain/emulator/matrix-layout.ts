/** Matrix elements, and how registers and shared memory hold them. */
import { zeroRegister, type Operand } from '../sass/instruction'
import { bfloatOf, halfOf } from './float'
import { lanes, type Site } from './site'
import { smallFloats, smallOf } from './small-floats'

export interface Elements {
  /** In a register. */
  packed: 1 | 2 | 4
  /** The number of each 16 or 8 bits; null for TF32, which is a float without its low bits. */
  table: Float32Array | null
  /** The smallest normal number: smaller ones have its exponent. */
  leastNormal: number
}

/** Bits of a float that TF32 has not. */
export const tensorFloatMask = ~0x1fff

export const leastFloat = 2 ** -126

const tables = new Map<(bits: number) => number, Float32Array>()

/** A function of 16 bits as a table of all of them. */
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

/** What an instruction's type says: TF32, BF16, FP8 (where A and B are of one type), or else F16. */
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
 * Reads the fragment of a matrix from registers: of each 8 rows lane l has row l / 4, and of each 4 registers along k
 * the l % 4-th. `sources` are the rows of the registers, those of 8 rows after one another first.
 */
export function readFragment(
  words: Int32Array,
  base: number,
  sources: readonly number[],
  { table }: Elements,
  depth: number,
  rowsApart: number,
  into: Float64Array,
): void {
  for (let part = 0; part < sources.length; part++) {
    const source = sources[part]!
    const packed = table === null ? 1 : 2
    const first = (part % rowsApart) * 8 * depth + 4 * packed * Math.floor(part / rowsApart)
    for (let lane = 0; lane < lanes; lane++) {
      const bits = source < 0 ? 0 : words[base + source + lane]!
      const at = first + (lane >> 2) * depth + packed * (lane & 3)
      if (table === null) {
        word[0] = bits & tensorFloatMask
        into[at] = float[0]!
      } else {
        into[at] = table[bits & 0xffff]!
        into[at + 1] = table[bits >>> 16]!
      }
    }
  }
}

/** First word of a register's row from the warp's base, -1 for RZ. */
export function rowOf(at: Site, operand: Operand, part: number): number {
  if (operand.kind !== 'register') return at.unknown()
  at.take(operand, 'value')
  return operand.index === zeroRegister ? -1 : (operand.index + part) * lanes
}

export const rows = 16
