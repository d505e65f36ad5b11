/**
 * Conversions between JavaScript numbers and floats with fewer than 32 bits. The results match the
 * runner's results (`cuda-kernels/runner/dtype.hpp`).
 */

interface SmallFloat {
  readonly bytes: 1 | 2
  /** Number of mantissa bits, without the implicit leading one. */
  readonly mantissa: number
  /** Exponent bias. */
  readonly excess: number
  /** Bits of the largest finite number. */
  readonly finite: number
  readonly infinity: boolean
}

export const smallFloats = {
  f16: { bytes: 2, mantissa: 10, excess: 15, finite: 0x7bff, infinity: true },
  bf16: { bytes: 2, mantissa: 7, excess: 127, finite: 0x7f7f, infinity: true },
  e4m3: { bytes: 1, mantissa: 3, excess: 7, finite: 0x7e, infinity: false },
  e5m2: { bytes: 1, mantissa: 2, excess: 15, finite: 0x7b, infinity: true },
} as const satisfies Record<string, SmallFloat>

export function smallOf(bits: number, of: SmallFloat): number {
  const sign = of.bytes === 2 ? 0x8000 : 0x80
  const magnitude = bits & (sign - 1)
  const leading = 1 << of.mantissa
  const exponent = magnitude >> of.mantissa
  const fraction = magnitude & (leading - 1)
  const value =
    magnitude > of.finite
      ? of.infinity && magnitude === of.finite + 1
        ? Infinity
        : NaN
      : exponent === 0
        ? fraction * 2 ** (1 - of.excess - of.mantissa)
        : (leading + fraction) * 2 ** (exponent - of.excess - of.mantissa)
  return bits & sign ? -value : value
}

/**
 * Returns the 8-bit encoding of a number, rounded to nearest with ties to even. As in CUDA's
 * conversions, numbers out of range become the largest finite number. NaN becomes 0x7f.
 */
export function eightBits(value: number, { mantissa, excess, finite }: SmallFloat): number {
  if (Number.isNaN(value)) return 0x7f
  const x = Math.abs(value)
  const sign = value < 0 || Object.is(value, -0) ? 0x80 : 0
  if (x === 0) return sign
  // If the logarithm is slightly too small, the quotient doubles and its extra bit carries into the
  // exponent.
  const exponent = Math.max(Math.floor(Math.log2(x)), 1 - excess)
  const quotient = x * 2 ** (mantissa - exponent)
  const floor = Math.floor(quotient)
  const up = quotient - floor > 0.5 || (quotient - floor === 0.5 && floor % 2 === 1)
  // `floor` includes the leading mantissa bit. Rounding up to the next power of two therefore
  // carries into the exponent.
  const magnitude = ((exponent + excess - 1) << mantissa) + floor + (up ? 1 : 0)
  return sign | Math.min(x === Infinity ? finite : magnitude, finite)
}
