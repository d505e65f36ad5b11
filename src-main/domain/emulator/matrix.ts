/** The elements of matrices: how registers and shared memory hold them. */
import { zeroRegister } from '../sass/instruction'
import type { Operand } from '../sass/instruction'
import { bitsOf, brainOf, halfOf, tensorFloat } from './float'
import { lanes, type Site } from './site'

export interface Elements {
  /** In a register. */
  packed: 1 | 2
  /** The number that an element's bits are. */
  read: (bits: number) => number
}

const tables = new Map<(bits: number) => number, Float32Array>()

/** A function of 16 bits as a table of all of them. */
function tabled(toNumber: (bits: number) => number): (bits: number) => number {
  let table = tables.get(toNumber)
  if (!table) {
    table = Float32Array.from({ length: 65536 }, (_, bits) => toNumber(bits))
    tables.set(toNumber, table)
  }
  const values = table
  return (bits) => values[bits]!
}

/** What an instruction's type says: TF32, BF16, or else F16. */
export function elementsOf(at: Site, type?: 'F16'): Elements {
  if (type === undefined && at.has('TF32')) return { packed: 1, read: tensorFloat }
  return { packed: 2, read: tabled(type === undefined && at.has('BF16') ? brainOf : halfOf) }
}

/** First word of a register's row from the warp's base, -1 for RZ. */
export function rowOf(at: Site, operand: Operand, part: number): number {
  if (operand.kind !== 'register') return at.unknown()
  return operand.index === zeroRegister ? -1 : (operand.index + part) * lanes
}

/** A sum in double precision as the bits of a float. */
export const signedSum = (sum: number): number => bitsOf(Math.fround(sum))
