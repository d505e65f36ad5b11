/**
 * Computes sums of products in the same way as Hopper's tensor cores.
 *
 * All products and the addend are aligned to their largest exponent, truncated to a fixed number of
 * bits, and added exactly. The resulting sum is also truncated. A product's exponent is the sum of
 * its factors' exponents, regardless of the mantissas. The results match an H200's results bit for
 * bit in 180 warp products and 216 warpgroup products (test/domain/emulator/tensor-cores.test.ts).
 */
import { bitsOf, floatOf, nanBits } from './float'

/**
 * Number of bits that an FP8 sum keeps below the largest exponent. For types other than FP8, the
 * number of bits is `kept`.
 */
export const keptOfEights = 13

/** Mask of the bits that an FP8 sum keeps in a float. */
export const maskOfEights = ~(2 ** (23 - keptOfEights) - 1)

export const kept = 25

/** Converts column-major elements to row-major order. */
export function transpose(from: Float64Array, columns: number, into: Float64Array): void {
  const depth = from.length / columns
  for (let column = 0; column < columns; column++)
    for (let k = 0; k < depth; k++) into[k * columns + column] = from[column * depth + k]!
}

const overflow = 2 ** 128

/** Returns the bits of `value` as a float, truncated and masked. */
export function cutFloat(value: number, mask = -1): number {
  const bits = bitsOf(Math.fround(value))
  if (Number.isNaN(value)) return nanBits
  return Math.abs(value) < overflow && Math.abs(floatOf(bits)) > Math.abs(value)
    ? (bits - 1) & mask
    : bits & mask
}
