/**
 * Sums of products, computed as Hopper's tensor cores do.
 *
 * All products and the addend are aligned to their largest exponent, truncated below a number of
 * bits, and added exactly. The sum is truncated too. A product's exponent is the sum of its
 * factors' exponents, regardless of the mantissas. This matches an H200 bit by bit in 180 warp
 * products and 216 warpgroup products (test/domain/emulator/tensor-cores.test.ts).
 */
import { bitsOf, floatOf, nanBits } from './float'

/** Bits that an FP8 sum keeps below the largest exponent. Other types keep `kept` bits. */
export const keptOfEights = 13

/** Mask of the float bits that an FP8 sum keeps. */
export const maskOfEights = ~(2 ** (23 - keptOfEights) - 1)

export const kept = 25

/** Converts consecutive columns to rows. */
export function transpose(from: Float64Array, columns: number, into: Float64Array): void {
  const depth = from.length / columns
  for (let column = 0; column < columns; column++)
    for (let k = 0; k < depth; k++) into[k * columns + column] = from[column * depth + k]!
}

const overflow = 2 ** 128

/** Returns the bits of a number as a float, truncated and masked. */
export function cutFloat(value: number, mask = -1): number {
  const bits = bitsOf(Math.fround(value))
  if (Number.isNaN(value)) return nanBits
  return Math.abs(value) < overflow && Math.abs(floatOf(bits)) > Math.abs(value)
    ? (bits - 1) & mask
    : bits & mask
}
