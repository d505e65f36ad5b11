/** Element types: their names for the runner, C++ and readers. The numbers are those of KlDtype in kl_abi.h. */

interface DtypeFacts {
  number: number
  bytes: number
  /** Its C type. */
  c: string
  /** The CUDA toolkit header that declares it. */
  header?: string
  label: string
  isFloat: boolean
  /** The range of its integers; for 64 bits, those that are exact in a double. */
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
