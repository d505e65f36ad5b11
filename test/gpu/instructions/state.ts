/**
 * The contents of registers and memory before an instruction, on a GPU and in the emulator. The
 * state is a function of a seed. runner.cu has the same function.
 */

/** The first row of each part of the state. A row has 32 words, one per lane. */
export const rows = {
  /** Registers R8 to R47. */
  general: 0,
  /** Predicates P0 to P6 as bits. */
  predicates: 40,
  /** Uniform registers UR8 to UR31, which are equal in all lanes. */
  uniform: 41,
  /** Uniform predicates UP0 to UP6, each 0 or 1. */
  uniformPredicates: 65,
  /** 4 KiB of shared memory, starting at 0x400. */
  shared: 72,
  end: 104,
} as const
export const [firstRegister, registerCount] = [8, 40]
export const [firstUniform, uniformCount] = [8, 24]
export const lanes = 32
export const stateWords = rows.end * lanes
/** The number of words in global memory. The parameter words follow the words of global memory. */
export const globalWords = 1024
export const parameterWords = 60
/** The offset of the parameter words in constant bank 0. */
export const parameterOffset = 0x220
export const sharedStart = 0x400

export type Palette = 'general' | 'halves' | 'doubles' | 'wide halves'
export const palettes: readonly Palette[] = ['general', 'halves', 'doubles', 'wide halves']

/**
 * A row with the contents `start + lane * step` instead of random contents. A global address uses a
 * pair of rows.
 */
export interface Override {
  row: number
  kind: 'word' | 'global'
  start: number
  step: number
}

export interface Trial {
  words: readonly [number, number, number, number]
  seed: number
  palette: Palette
  /**
   * The instruction's immediate value. Some lanes contain the immediate value or a value close to
   * it.
   */
  immediate: number
  overrides: readonly Override[]
}

const mix = (value: number): number => {
  let x = value
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

const edges = [
  ...[0, 1, 2, 8, 31, 32, 33, 64, 0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000, 0x80, 0xff],
  ...[0x8000, 0xffff, 0x3f800000, 0x3f800001, 0xbf800000, 0x3f000000, 0x40200000, 0x40600000],
  ...[0xc0200000, 0x00000001, 0x00400000, 0x80400000, 0x007fffff, 0x00800000, 0x7f7fffff],
  ...[0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x4b000001, 0x4f000000],
  ...[0x7c007bff, 0xfc000001, 0x7e0003ff, 0x80008000, 0x3c003c01, 0x7f807f7f, 0x00010080],
]
const edgesOfDoubles = [
  ...[0, 0x80000000, 0x3ff00000, 0xbff00000, 0x7ff00000, 0xfff00000, 0x7ff80000, 0x7ff12345],
  ...[0x00000001, 0x000fffff, 0x00100000, 0x7fefffff, 0x43300000, 0x41dfffff, 0x47efffff],
]

/**
 * Returns two halves between 2^-4 and 2^4 with either sign. With `wide`, returns halves with any
 * finite exponent.
 */
function halves(a: number, b: number, wide: boolean): number {
  const half = (bits: number): number => {
    const exponent = wide ? (bits >>> 10) % 31 : 11 + ((bits >>> 10) & 7)
    return (bits & 0x83ff) | (exponent << 10)
  }
  return (half(a & 0xffff) | (half(b & 0xffff) << 16)) >>> 0
}

/** Returns the unsigned word at an index in the state. */
export function wordAt({ seed, palette, immediate }: Trial, index: number): number {
  const a = mix(seed ^ Math.imul(index + 1, 0x9e3779b1))
  const b = mix((a + 0x7f4a7c15) | 0)
  if (palette === 'halves') return halves(a, b, false)
  if (palette === 'wide halves') return halves(a, b, true)
  const kind = b & 31
  const choice = b >>> 8
  if (palette === 'doubles') {
    const high = (index >>> 5) & 1
    if (kind < 6)
      return high ? edgesOfDoubles[choice % edgesOfDoubles.length]! : kind < 3 ? 0 : kind & 1
    if (!high) return kind < 12 ? a & 0xe0000000 : a
    return ((a & 0x800fffff) | ((1015 + (choice & 15)) << 20)) >>> 0
  }
  // Make some words depend only on the lane, so that the lane has equal values in several rows.
  const same = kind < 3 ? mix(seed ^ Math.imul((index & 31) + 77, 0x85ebca6b)) : a
  if (kind >= 3 && kind < 10) return edges[choice % edges.length]! >>> 0
  if (kind === 10 || kind === 11) return (immediate + (choice % 3) - 1) >>> 0
  if (kind === 12 || kind === 13) return choice % 40
  if (kind >= 14 && kind < 21) return ((same & 0x807fffff) | ((120 + (choice & 15)) << 23)) >>> 0
  if (kind >= 21 && kind < 25) return halves(a, b >>> 3, false)
  return same
}

/**
 * Returns all words of the state: rows, global memory, and parameters. `low` and `high` are the two
 * words of the global memory address.
 */
export function stateOf(trial: Trial, [low, high]: readonly [number, number]): Uint32Array {
  const words = new Uint32Array(stateWords + globalWords + parameterWords)
  for (let index = 0; index < words.length; index++) words[index] = wordAt(trial, index)
  const pattern = trial.seed % 5
  for (let lane = 0; lane < lanes; lane++) {
    const at = rows.predicates * lanes + lane
    words[at] =
      pattern === 1 ? 0x7f : pattern === 2 ? mix(trial.seed) & 0x7f : (words[at]! >>> 9) & 0x7f
  }
  for (let row = rows.uniform; row < rows.shared; row++) {
    const first = words[row * lanes]!
    const value = row < rows.uniformPredicates ? first : (mix(first) >>> 5) & 1
    words.fill(value, row * lanes, (row + 1) * lanes)
  }
  for (const { row, kind, start, step } of trial.overrides)
    for (let lane = 0; lane < lanes; lane++) {
      const value = (kind === 'global' ? low : 0) + start + lane * step
      words[row * lanes + lane] = value >>> 0
      if (kind === 'global') words[(row + 1) * lanes + lane] = high + Math.floor(value / 2 ** 32)
    }
  return words
}
