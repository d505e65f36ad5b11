/** Types of elements: how the runner, C and a reader call each. The numbers are those of KlDtype, kl_abi.h. */

const float = { isFloat: true } as const
const integer = { isFloat: false } as const

/** `c` is null where C has no such type; a pointer to it is then a `void*`. */
const types = {
  f32: { number: 0, bytes: 4, c: 'float', label: 'FP32', ...float },
  f16: { number: 1, bytes: 2, c: null, label: 'FP16', ...float },
  bf16: { number: 2, bytes: 2, c: null, label: 'BF16', ...float },
  f64: { number: 3, bytes: 8, c: 'double', label: 'FP64', ...float },
  e4m3: { number: 4, bytes: 1, c: null, label: 'FP8 E4M3', ...float },
  e5m2: { number: 5, bytes: 1, c: null, label: 'FP8 E5M2', ...float },
  i8: { number: 6, bytes: 1, c: 'signed char', label: 'INT8', ...integer },
  i16: { number: 7, bytes: 2, c: 'short', label: 'INT16', ...integer },
  i32: { number: 8, bytes: 4, c: 'int', label: 'INT32', ...integer },
  i64: { number: 9, bytes: 8, c: 'long long', label: 'INT64', ...integer },
  u8: { number: 10, bytes: 1, c: 'unsigned char', label: 'UINT8', ...integer },
  u16: { number: 11, bytes: 2, c: 'unsigned short', label: 'UINT16', ...integer },
  u32: { number: 12, bytes: 4, c: 'unsigned int', label: 'UINT32', ...integer },
  u64: { number: 13, bytes: 8, c: 'unsigned long long', label: 'UINT64', ...integer },
} as const satisfies Record<
  string,
  { number: number; bytes: number; c: string | null; label: string; isFloat: boolean }
>

export type Dtype = keyof typeof types
export const dtypes = Object.keys(types) as Dtype[]

export const isDtype = (word: string): word is Dtype => Object.hasOwn(types, word)
export const dtypeOf = (dtype: Dtype): (typeof types)[Dtype] => types[dtype]
