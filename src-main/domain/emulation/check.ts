/**
 * Compares results with expected values in the same way as the runner on a GPU
 * (`cuda-kernels/runner/reference.hpp`). The error bounds and the messages match the runner's.
 */
import type { Mismatch, Verify } from '../session/session'
import { dtypeOf, type Dtype } from '../task/dtype'
import { smallFloats, smallOf } from '../emulator/small-floats'

export type CheckRule =
  | { kind: 'exact' }
  /** Element-wise check of |error| ≤ bound · scale. */
  | { kind: 'bound'; bound: number }
  | { kind: 'tolerance'; rtol: number; atol: number }

export interface CheckedOutput {
  name: string
  dtype: Dtype
  shape: readonly number[]
  rule: CheckRule
  actual: Uint8Array
  /** Expected values as doubles, or in the buffer's type for an exact check. */
  expected: Uint8Array
  /** Scale values as doubles, or null if the rule has no scale. */
  scale: Uint8Array | null
  /** Mask with a 0 for each ignored element, or null if all elements are checked. */
  mask: Uint8Array | null
  /** Whether the inputs contain infinities or NaN, in which case an expected value may be NaN. */
  special: boolean
}

type Load = (index: number) => number

/** Returns a function that reads an array's elements as numbers. */
export function valueReader(bytes: Uint8Array, dtype: Dtype): Load {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (dtype) {
    case 'f32':
      return (i) => view.getFloat32(4 * i, true)
    case 'f64':
      return (i) => view.getFloat64(8 * i, true)
    case 'f16':
    case 'bf16':
      return (i) => smallOf(view.getUint16(2 * i, true), smallFloats[dtype])
    case 'e4m3':
    case 'e5m2':
      return (i) => smallOf(view.getUint8(i), smallFloats[dtype])
    case 'i8':
      return (i) => view.getInt8(i)
    case 'u8':
      return (i) => view.getUint8(i)
    case 'i16':
      return (i) => view.getInt16(2 * i, true)
    case 'u16':
      return (i) => view.getUint16(2 * i, true)
    case 'i32':
      return (i) => view.getInt32(4 * i, true)
    case 'u32':
      return (i) => view.getUint32(4 * i, true)
    case 'i64':
      return (i) => Number(view.getBigInt64(8 * i, true))
    case 'u64':
      return (i) => Number(view.getBigUint64(8 * i, true))
  }
}

/** Returns each element as a double. A trusted rung's results are stored as doubles. */
export function toDoubles(bytes: Uint8Array, dtype: Dtype): Uint8Array {
  const load = valueReader(bytes, dtype)
  const doubles = new Float64Array(bytes.length / dtypeOf(dtype).bytes)
  for (let index = 0; index < doubles.length; index++) doubles[index] = load(index)
  return new Uint8Array(doubles.buffer)
}

const smallestNormal = 2 ** -126

interface ElementError {
  passed: boolean
  relative: number
}

type Judge = (index: number, actual: number, expected: number) => ElementError

const right: ElementError = { passed: true, relative: 0 }

function judgeOf({ rule, dtype, actual, expected, scale, special }: CheckedOutput): Judge {
  if (rule.kind === 'exact') {
    const { bytes, isFloat } = dtypeOf(dtype)
    const sameBits = (index: number): boolean => {
      for (let byte = index * bytes; byte < (index + 1) * bytes; byte++)
        if (actual[byte] !== expected[byte]) return false
      return true
    }
    return (index, value, wanted) =>
      sameBits(index) || (isFloat && value === wanted)
        ? right
        : {
            passed: false,
            relative: Math.abs(value - wanted) / Math.max(Math.abs(wanted), smallestNormal),
          }
  }
  const scaleOf = scale && valueReader(scale, 'f64')
  const floor =
    rule.kind === 'tolerance' && rule.rtol > 0 && rule.atol > 0
      ? rule.atol / rule.rtol
      : smallestNormal
  return (index, value, wanted) => {
    if (value === wanted || (special && Number.isNaN(wanted) && Number.isNaN(value))) return right
    const error = Math.abs(value - wanted)
    const by = scaleOf?.(index) ?? Math.max(Math.abs(wanted), floor)
    const most = rule.kind === 'bound' ? rule.bound * by : rule.atol + rule.rtol * Math.abs(wanted)
    // A comparison with NaN is always false, so this form of the condition rejects NaN.
    return { passed: error <= most && error !== Infinity, relative: error / by }
  }
}

/** Returns an element's index in each dimension, computed from its linear index. */
function indexOf(shape: readonly number[], at: number): number[] {
  const index = shape.map(() => 0)
  let rest = at
  for (let dimension = shape.length - 1; dimension >= 0; dimension--) {
    index[dimension] = rest % shape[dimension]!
    rest = Math.floor(rest / shape[dimension]!)
  }
  return index
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

/**
 * Returns an element in the format that sessions store. NaN becomes null, or, in an exact check, a
 * string that contains the NaN's bits.
 */
function kept(
  value: number,
  bytes: Uint8Array,
  dtype: Dtype,
  index: number,
  isExact: boolean,
): Mismatch['actual'] {
  if (value === Infinity) return 'Infinity'
  if (value === -Infinity) return '-Infinity'
  const size = dtypeOf(dtype).bytes
  const bits = bytes
    .subarray(index * size, (index + 1) * size)
    .reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n)
  if (Number.isNaN(value))
    return isExact ? `NaN (0x${bits.toString(16).padStart(2 * size, '0')})` : null
  if (Math.abs(value) <= 2 ** 53 || dtypeOf(dtype).isFloat) return value
  return String(dtype === 'i64' ? BigInt.asIntN(64, bits) : bits)
}

/** Checks a rung's outputs. `outOfBounds` and `changedInputs` list buffer names. */
export function verify(
  outputs: readonly CheckedOutput[],
  { outOfBounds, changedInputs }: Pick<Verify, 'outOfBounds' | 'changedInputs'>,
): Verify {
  let worst = 0
  let hasNan = false
  let mismatches = 0
  let firstMismatch: Mismatch | null = null
  for (const output of outputs) {
    const judge = judgeOf(output)
    const actual = valueReader(output.actual, output.dtype)
    const isExact = output.rule.kind === 'exact'
    const wantedType = isExact ? output.dtype : 'f64'
    const expected = valueReader(output.expected, wantedType)
    const count = output.actual.length / dtypeOf(output.dtype).bytes
    for (let index = 0; index < count; index++) {
      if (output.mask?.[index] === 0) continue
      const [value, wanted] = [actual(index), expected(index)]
      const { passed, relative } = judge(index, value, wanted)
      if (Number.isNaN(relative)) hasNan = true
      else if (relative > worst) worst = relative
      if (passed) continue
      mismatches += 1
      firstMismatch ??= {
        buffer: output.name,
        index: indexOf(output.shape, index),
        expected: kept(wanted, output.expected, wantedType, index, isExact),
        actual: kept(value, output.actual, output.dtype, index, isExact),
      }
    }
  }
  return {
    passed: mismatches === 0 && outOfBounds.length === 0 && changedInputs.length === 0,
    worstRelativeError: hasNan ? null : finite(worst),
    mismatches,
    firstMismatch,
    outOfBounds,
    changedInputs,
  }
}

/**
 * Returns the lowest index of a checked element that is NaN in the reference, or null if there is
 * none. No result can match NaN.
 */
export function firstNan(doubles: Uint8Array, mask?: Uint8Array): number | null {
  const load = valueReader(doubles, 'f64')
  for (let index = 0; index < doubles.length / 8; index++)
    if (mask?.[index] !== 0 && Number.isNaN(load(index))) return index
  return null
}
