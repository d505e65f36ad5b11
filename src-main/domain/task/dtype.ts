/**
 * Element types, with their names for the runner, C++ and readers. The numbers match KlDtype in
 * kl_abi.h.
 */

interface DtypeFacts {
  number: number
  bytes: number
  /** Name of the C++ type. */
  c: string
  /** CUDA toolkit header that declares the type. */
  header?: string
  label: string
  isFloat: boolean
  /**
   * Range of an integer type. For 64-bit types, the range is limited to integers that are exact in
   * a double.
   */
  least: number
  most: number
}

const float = (exact: number) => ({ isFloat: true, least: -exact, most: exact })
const signed = (bits: number) => ({
  isFloat: false,
  least: Math.max(-(2 ** (bits - 1)), Number.MIN_SAFE_INTEGER),
  most: Math.min(2 ** (bits - 1) - 1, Number.MAX_SAFE_INTEGER),
})
const unsigned = (bits: number) => ({
  isFloat: false,
  least: 0,
  most: Math.min(2 ** bits - 1, Number.MAX_SAFE_INTEGER),
})

const types = {
  f32: { number: 0, bytes: 4, c: 'float', label: 'FP32', ...float(2 ** 24) },
  f16: {
    number: 1,
    bytes: 2,
    c: '__half',
    header: 'cuda_fp16.h',
    label: 'FP16',
    ...float(2 ** 11),
  },
  bf16: {
    ...{ number: 2, bytes: 2, c: '__nv_bfloat16', header: 'cuda_bf16.h', label: 'BF16' },
    ...float(2 ** 8),
  },
  f64: { number: 3, bytes: 8, c: 'double', label: 'FP64', ...float(2 ** 53) },
  e4m3: {
    ...{ number: 4, bytes: 1, c: '__nv_fp8_e4m3', header: 'cuda_fp8.h', label: 'FP8 E4M3' },
    ...float(16),
  },
  e5m2: {
    ...{ number: 5, bytes: 1, c: '__nv_fp8_e5m2', header: 'cuda_fp8.h', label: 'FP8 E5M2' },
    ...float(8),
  },
  i8: { number: 6, bytes: 1, c: 'signed char', label: 'INT8', ...signed(8) },
  i16: { number: 7, bytes: 2, c: 'short', label: 'INT16', ...signed(16) },
  i32: { number: 8, bytes: 4, c: 'int', label: 'INT32', ...signed(32) },
  i64: { number: 9, bytes: 8, c: 'long long', label: 'INT64', ...signed(64) },
  u8: { number: 10, bytes: 1, c: 'unsigned char', label: 'UINT8', ...unsigned(8) },
  u16: { number: 11, bytes: 2, c: 'unsigned short', label: 'UINT16', ...unsigned(16) },
  u32: { number: 12, bytes: 4, c: 'unsigned int', label: 'UINT32', ...unsigned(32) },
  u64: { number: 13, bytes: 8, c: 'unsigned long long', label: 'UINT64', ...unsigned(64) },
} as const satisfies Record<string, DtypeFacts>

export type Dtype = keyof typeof types
export const dtypes = Object.keys(types) as Dtype[]

export const isDtype = (word: string): word is Dtype => Object.hasOwn(types, word)
export const dtypeOf = (dtype: Dtype): DtypeFacts => types[dtype]

/** Converts the 16 bits of a half-precision number to its value. */
export function halfOf(bits: number): number {
  const exponent = (bits >>> 10) & 31
  const fraction = bits & 1023
  const sign = bits & 0x8000 ? -1 : 1
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return exponent === 0
    ? sign * fraction * 2 ** -24
    : sign * (fraction + 1024) * 2 ** (exponent - 25)
}

const f32 = new DataView(new ArrayBuffer(4))

/** Functions that read little-endian values. GPUs and their hosts use little-endian byte order. */
const floatReaders = {
  f32: (view, at) => view.getFloat32(at, true),
  f64: (view, at) => view.getFloat64(at, true),
  f16: (view, at) => halfOf(view.getUint16(at, true)),
  bf16: (view, at) => {
    f32.setUint16(0, view.getUint16(at, true))
    return f32.getFloat32(0)
  },
} as const satisfies Partial<Record<Dtype, (view: DataView, at: number) => number>>

/** The element types that can be read from files. */
type FiledFloat = keyof typeof floatReaders
export const filedFloats = Object.keys(floatReaders) as [FiledFloat, ...FiledFloat[]]

/** Returns a function that reads the value at a byte offset. */
export const floatReader = (dtype: FiledFloat): ((view: DataView, at: number) => number) =>
  floatReaders[dtype]
