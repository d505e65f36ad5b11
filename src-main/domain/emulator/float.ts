/**
 * Floating-point arithmetic that matches the GPU bit for bit where JavaScript's own operations
 * differ.
 */
export { halfOf } from '../task/dtype'

const f32 = new Float32Array(1)
const f32Bits = new Int32Array(f32.buffer)
const f64 = new Float64Array(1)
const f64Words = new Uint32Array(f64.buffer)

/** Bits of the canonical NaN that FP32 operations return. */
export const nanBits = 0x7fffffff

export const floatOf = (bits: number): number => {
  f32Bits[0] = bits
  return f32[0]!
}

export const bitsOf = (value: number): number => {
  if (Number.isNaN(value)) return nanBits
  f32[0] = value
  return f32Bits[0]!
}

export const doubleOf = (low: number, high: number): number => {
  f64Words[0] = low
  f64Words[1] = high
  return f64[0]!
}

/** Returns the low word and the high word of a double. */
export const wordsOf = (value: number): [number, number] => {
  f64[0] = value
  return [f64Words[0]! | 0, f64Words[1]! | 0]
}

/** Returns whether the two words encode a NaN double. */
export const isNaNDouble = (low: number, high: number): boolean =>
  (high & 0x7fffffff) > 0x7ff00000 || ((high & 0x7fffffff) === 0x7ff00000 && low !== 0)

const smallestNormal = 2 ** -126

/** Replaces a denormal number with a zero of the same sign. */
export const flush = (value: number): number =>
  Math.abs(value) < smallestNormal ? (Object.is(value, -0) || value < 0 ? -0 : 0) : value

/** Returns the exact rounding error of `sum` = a + b. */
export const sumError = (a: number, b: number, sum: number): number => {
  const rest = sum - a
  return a - (sum - rest) + (b - rest)
}

const next = (value: number, up: boolean): number => {
  f32[0] = value
  if (value === 0) {
    f32Bits[0] = up ? 1 : 0x80000001 | 0
    return f32[0]
  }
  f32Bits[0]! += value > 0 === up ? 1 : -1
  return f32[0]
}

const overflow = 2 ** 128 - 2 ** 103

/**
 * Returns a * b + c for floats, rounded once. The product of two floats is exact in a double.
 * Rounding the sum to a double and then to a float usually gives the correct result. The result is
 * wrong only if rounding to a double is inexact and the double is the midpoint between two floats.
 */
export function fusedMultiplyAdd(a: number, b: number, c: number): number {
  const product = a * b
  const sum = product + c
  const rounded = Math.fround(sum)
  const left = sum - rounded
  if (left === 0 || Number.isNaN(left)) return rounded
  const other = rounded + left + left
  const middle = Math.abs(sum) === overflow || Math.fround(other) === other
  if (!middle) return rounded
  const error = sumError(product, c, sum)
  if (error === 0 || Number.isNaN(error)) return rounded
  if (Math.abs(sum) === overflow)
    return error > 0 === sum > 0 ? rounded : sum > 0 ? 2 ** 128 - 2 ** 104 : 2 ** 104 - 2 ** 128
  return error > 0 ? Math.max(rounded, other) : Math.min(rounded, other)
}

export type Rounding = 'RN' | 'RZ' | 'RM' | 'RP'

/** Returns `value` plus a tiny `error`, rounded to a float in the given direction. */
function roundFloat(value: number, error: number, mode: Rounding): number {
  const rounded = Math.fround(value)
  const left = value - rounded + error
  if (mode === 'RN' || left === 0 || Number.isNaN(left)) return rounded
  const up = mode === 'RP' || (mode === 'RZ' && value < 0)
  if (left > 0 && up) return next(rounded, true)
  if (left < 0 && !up) return next(rounded, false)
  return rounded
}

/** Returns a * b + c, rounded in a direction other than to nearest. */
export function multiplyAddDirected(a: number, b: number, c: number, mode: Rounding): number {
  if (mode === 'RN') return fusedMultiplyAdd(a, b, c)
  const product = a * b
  const sum = product + c
  // If the terms cancel while rounding down, the result is -0.
  if (sum === 0 && mode === 'RM' && (Object.is(product, -0) || Object.is(c, -0) || product !== 0))
    return -0
  return roundFloat(sum, sumError(product, c, sum), mode)
}

/**
 * Returns the bits of the FP16 nearest to `value`. `value` must be exact or rounded to more than
 * twice the precision of FP16, so that the second rounding is harmless.
 */
export function halfBits(value: number): number {
  if (Number.isNaN(value)) return 0x7fff
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size >= 65520) return sign | 0x7c00
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size))
  const unit = 2 ** ((size < 2 ** exponent ? exponent - 1 : exponent) - 10)
  const scaled = size / Math.max(unit, 2 ** -24)
  const floor = Math.floor(scaled)
  const rest = scaled - floor
  const rounded = rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
  const result = rounded * Math.max(unit, 2 ** -24)
  if (result < 2 ** -14) return sign | (result / 2 ** -24)
  const e = Math.floor(Math.log2(result))
  return sign | ((e + 15) << 10) | (result / 2 ** (e - 10) - 1024)
}

export const bfloatOf = (bits: number): number => floatOf(bits << 16)

/** Returns the bits of the BF16 nearest to a float. */
export function brainBits(value: number): number {
  if (Number.isNaN(value)) return 0x7fff
  const bits = bitsOf(value)
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff
}

/** Returns the bits of the BF16 nearest to `value` plus a tiny `error`, rounded once. */
export function bfloatBitsOf(value: number, error = 0): number {
  const float = Math.fround(value)
  const left = value - float + error
  if (Number.isNaN(left) || left === 0 || !Number.isFinite(float)) return brainBits(float)
  // Truncate to a float and set the lowest bit if truncation lost any bits, so that the rounding to
  // BF16 is correct.
  const bits = bitsOf(float)
  const towardsZero = float !== 0 && left > 0 !== float > 0 ? bits - 1 : bits
  return brainBits(floatOf(towardsZero | 1))
}

/** Returns the high 32 bits of the product of two unsigned integers. */
export function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff
  const aHigh = a >>> 16
  const bLow = b & 0xffff
  const bHigh = b >>> 16
  const cross = aHigh * bLow + (((aLow * bLow) / 65536) >>> 0)
  const other = aLow * bHigh + (cross % 65536)
  return (aHigh * bHigh + Math.floor(cross / 65536) + Math.floor(other / 65536)) | 0
}

/** Returns the high 32 bits of the product of two signed integers. */
export const multiplyHighSigned = (a: number, b: number): number =>
  (multiplyHigh(a >>> 0, b >>> 0) - (a < 0 ? b : 0) - (b < 0 ? a : 0)) | 0
