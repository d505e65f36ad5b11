/**
 * How Hopper's tensor cores add the products of an element.
 *
 * All products of an element and what they are added to are aligned to the largest exponent among them, cut off towards
 * zero below a number of bits, and added exactly; the sum is cut off towards zero as well. The exponent of a product is
 * the sum of its factors' exponents, whatever their mantissas. This is bit for bit what an H200 answered to 180
 * products of warps and 216 of warpgroups (test/domain/emulator/tensor-cores.test.ts).
 */
import { bitsOf, floatOf, nanBits } from './float'

/** Bits below the largest exponent that count in a sum: of FP8, and of all other types. */
export const keptOfEights = 13

/** The bits of a float that a sum of FP8 has. */
export const maskOfEights = ~(2 ** (23 - keptOfEights) - 1)

export const kept = 25

/** Columns of numbers after one another as rows of one of each column. */
export function transpose(from: Float64Array, columns: number, into: Float64Array): void {
  const depth = from.length / columns
  for (let column = 0; column < columns; column++)
    for (let k = 0; k < depth; k++) into[k * columns + column] = from[column * depth + k]!
}

const overflow = 2 ** 128

/** The bits of a number as a float, cut off towards zero, as far as the mask keeps them. */
export function cutFloat(value: number, mask = -1): number {
  const bits = bitsOf(Math.fround(value))
  if (Number.isNaN(value)) return nanBits
  return Math.abs(value) < overflow && Math.abs(floatOf(bits)) > Math.abs(value)
    ? (bits - 1) & mask
    : bits & mask
}
