/** Parses the parameters of a kernel from its demangled name, and maps them to ladder types. */
import { dtypeOf, dtypes, type Dtype } from '../task/dtype'

export type ParameterKind = Readonly<
  /** A pointer to an array with `lanes` elements per value, such as 4 for float4. */
  | { kind: 'pointer'; dtype: Dtype; lanes: number; isConst: boolean; pointee: string }
  | { kind: 'integer'; signed: boolean; bytes: number }
  | { kind: 'real'; dtype: 'f32' | 'f64' }
  | { kind: 'unsupported'; why: string }
>

/** Alternative names of C types, as used in sources and demangled names. */
const aliases: Readonly<Record<string, string>> = {
  half: '__half',
  bool: 'unsigned char',
  char: 'signed char',
  unsigned: 'unsigned int',
  long: 'long long',
  'unsigned long': 'unsigned long long',
  size_t: 'unsigned long long',
  int8_t: 'signed char',
  uint8_t: 'unsigned char',
  int16_t: 'short',
  uint16_t: 'unsigned short',
  int32_t: 'int',
  uint32_t: 'unsigned int',
  int64_t: 'long long',
  uint64_t: 'unsigned long long',
  uchar: 'unsigned char',
  ushort: 'unsigned short',
  uint: 'unsigned int',
  longlong: 'long long',
  ulonglong: 'unsigned long long',
}

const byC = new Map<string, Dtype>(dtypes.map((dtype) => [dtypeOf(dtype).c, dtype]))

const scalarOf = (type: string): Dtype | null => byC.get(aliases[type] ?? type) ?? null

/** Returns the element type and the number of elements per value, or null for other types. */
function elementOf(type: string): { dtype: Dtype; lanes: number } | null {
  const plain = scalarOf(type)
  if (plain) return { dtype: plain, lanes: 1 }
  const [, base, lanes] = /^(.+?)([1-4])$/.exec(type) ?? []
  const dtype = base === undefined ? null : scalarOf(base)
  return dtype ? { dtype, lanes: Number(lanes) } : null
}

/** Returns the size and signedness of an integer type, or null for other types. */
function integerOf(type: string): { signed: boolean; bytes: number } | null {
  const dtype = scalarOf(type)
  if (!dtype || dtypeOf(dtype).isFloat) return null
  return { signed: dtypeOf(dtype).least < 0, bytes: dtypeOf(dtype).bytes }
}

const words = (text: string): string =>
  text
    .replace(/\b(?:volatile|__restrict__|__restrict|restrict|struct|std::)\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/**
 * Returns how a ladder represents a parameter of a C++ type. The type may be demangled or taken
 * from the source.
 */
export function parameterKind(type: string): ParameterKind {
  const text = words(type.replace(/std::/g, ''))
  const stars = text.split('*').length - 1
  if (stars > 1) return { kind: 'unsupported', why: 'is a pointer to pointers' }
  if (/&|\(/.test(text)) return { kind: 'unsupported', why: `has the type ${type}` }
  const isConst = /\bconst\b/.test(text.split('*')[0]!)
  const base = words(text.replace(/\bconst\b/g, ' ').replaceAll('*', ' '))
  if (stars === 1) {
    const element = elementOf(base)
    return element
      ? { kind: 'pointer', ...element, isConst, pointee: base }
      : { kind: 'unsupported', why: `points to ${base}, which is no element type of a ladder` }
  }
  if (base === 'float' || base === 'double')
    return { kind: 'real', dtype: base === 'float' ? 'f32' : 'f64' }
  const integer = integerOf(base)
  if (integer) return { kind: 'integer', ...integer }
  return { kind: 'unsupported', why: `is ${base} by value` }
}

export interface Signature {
  /** The kernel's name in a launch, with template arguments if any. */
  call: string
  /** The name without template arguments and namespaces. */
  base: string
  /** Parameter types. Null if the name does not contain the parameter types, as with extern "C". */
  types: string[] | null
}

/** Splits text such as `a<b, c>, d` at the commas outside brackets. */
function splitTypes(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const sign of text) {
    if ('(<['.includes(sign)) depth++
    if (')>]'.includes(sign)) depth--
    if (sign === ',' && depth === 0) {
      parts.push(part.trim())
      part = ''
    } else part += sign
  }
  return part.trim() === '' ? parts : [...parts, part.trim()]
}

/** Parses a demangled name such as `void sum<float, 512>(float*, int)`. */
export function signatureOf(demangled: string): Signature {
  // The parameter list starts at the parenthesis that matches the last closing parenthesis.
  let depth = 0
  let open = -1
  if (demangled.endsWith(')'))
    for (let at = demangled.length - 1; at >= 0 && open < 0; at--) {
      if (demangled[at] === ')') depth++
      if (demangled[at] === '(' && --depth === 0) open = at
    }
  const called = (open < 0 ? demangled : demangled.slice(0, open))
    .replace(/^void /, '')
    .replaceAll('(anonymous namespace)::', '')
  const types =
    open < 0 ? null : splitTypes(demangled.slice(open + 1, -1)).filter((type) => type !== 'void')
  return { call: called, base: called.replace(/<.*$/s, '').split('::').at(-1)!, types }
}
