/** Proposes a fill for a buffer, based on samples of the program's data. */
import { valueReader } from '../emulation/check'
import { dtypeOf, type Dtype } from '../task/dtype'

export interface Fill {
  /** The fill in ladder.yaml syntax. */
  text: string
  /** Explanation of why this fill was chosen. */
  why: string
}

const valuesOf = (data: Uint8Array, dtype: Dtype): number[] => {
  const value = valueReader(data, dtype)
  return Array.from({ length: Math.floor(data.length / dtypeOf(dtype).bytes) }, (_, index) =>
    value(index),
  )
}

/** Rounds a range bound outward to two significant digits. */
function outward(value: number, up: boolean): number {
  if (value === 0) return 0
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1)
  return Number(((up ? Math.ceil(value / step) : Math.floor(value / step)) * step).toPrecision(2))
}

/** Returns the default fill for a buffer with unknown contents. */
export const unknownFill = (dtype: Dtype): Fill =>
  dtypeOf(dtype).isFloat
    ? {
        text: '{ kind: uniform, lo: -1, hi: 1 }',
        why: 'invented: the program’s values are not known',
      }
    : { text: '{ kind: zero }', why: 'invented: the program’s values are not known' }

/** Returns the largest magnitude among the finite values, or null if all finite values are zero. */
export function largestOf(bytes: Uint8Array, dtype: Dtype): number | null {
  let largest = 0
  for (const value of valuesOf(bytes, dtype))
    if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value))
  return largest === 0 ? null : largest
}

export interface Piece {
  /** Offset in bytes from the start of the buffer. */
  at: number
  data: Uint8Array
}

/**
 * Returns a fill for the sampled values.
 *
 * @param sizes sizes by name; integers whose maximum is just below a size are assumed to be indices
 */
export function fillOf(
  pieces: readonly Piece[],
  dtype: Dtype,
  sizes: readonly (readonly [string, number])[],
): Fill {
  const { bytes, isFloat } = dtypeOf(dtype)
  const read = pieces.map(({ at, data }) => ({ at, values: valuesOf(data, dtype) }))
  const values = read.flatMap((piece) => piece.values).filter(Number.isFinite)
  if (values.length === 0) return unknownFill(dtype)
  const why = `from ${values.length} values of the program’s own`
  const lo = values.reduce((a, b) => Math.min(a, b))
  const hi = values.reduce((a, b) => Math.max(a, b))
  if (lo === hi)
    return {
      text: lo === 0 ? '{ kind: zero }' : `{ kind: constant, value: ${lo} }`,
      why: `from ${values.length} values of the program’s own, all ${lo}`,
    }
  const counts = read.every((piece) =>
    piece.values.every((value, index) => value === piece.at / bytes + index),
  )
  if (counts) return { text: '{ kind: iota }', why }
  if (isFloat)
    return { text: `{ kind: uniform, lo: ${outward(lo, false)}, hi: ${outward(hi, true)} }`, why }
  const index = sizes.find(([, size]) => lo >= 0 && hi < size && hi >= 0.9 * size - 1)
  return {
    text: `{ kind: uniform, lo: ${lo}, hi: ${index ? `${index[0]} - 1` : hi} }`,
    why: index ? `${why}; they look like indices below ${index[0]}` : why,
  }
}
