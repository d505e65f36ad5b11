/**
 * Byte products with 32-bit accumulators: per-lane dot products (IDP) and warp-wide matrix products
 * (IMMA).
 */
import { rowOf, rows } from './matrix-layout'
import { eachLane, lanes, type Site } from './site'
import type { Step } from './warp'

/**
 * Returns a function that extracts one byte or half from a word. Index 0 selects the lowest byte or
 * half.
 */
function elementOf(at: Site, type: string | undefined): (bits: number, place: number) => number {
  switch (type) {
    case 'S8':
      return (bits, place) => (bits << (24 - 8 * place)) >> 24
    case 'U8':
      return (bits, place) => (bits >>> (8 * place)) & 0xff
    case 'S16':
      return (bits, place) => (bits << (16 - 16 * place)) >> 16
    case 'U16':
      return (bits, place) => (bits >>> (16 * place)) & 0xffff
    default:
      return at.unknown()
  }
}

/**
 * IDP: adds products of elements of a and b to c. IDP multiplies either four pairs of bytes, or two
 * halves of a by two bytes of b. For halves of a, a modifier selects the half of b that contains
 * the bytes.
 */
function dotProduct(at: Site): Step {
  const four = at.has('4A')
  if (!four && !at.has('2A')) return at.unknown()
  const high = !four && at.has('HI')
  if (!four && !high && !at.has('LO')) return at.unknown()
  const [left, right] = at.matching(/^[SU](8|16)$/)
  const [elementOfA, elementOfB] = [elementOf(at, left), elementOf(at, right)]
  const [a, b, c] = [0, 1, 2].map((place) => at.raw(at.source(place)))
  if (!a || !b || !c) return at.unknown()
  const put = at.put()
  const [count, first] = [four ? 4 : 2, high ? 2 : 0]
  return eachLane((_, base, lane) => {
    const [x, y] = [a(base, lane), b(base, lane)]
    let sum = c(base, lane)
    for (let place = 0; place < count; place++)
      sum = (sum + elementOfA(x, place) * elementOfB(y, first + place)) | 0
    put(base, lane, sum)
  })
}

const columns = 8

/**
 * IMMA: computes 16 x 8 sums over a depth of 16 or 32 bytes. Sums wrap around on overflow. In each
 * group of 8 rows of A (or columns of B), lane l has row l / 4. In each group of 16 bytes along k,
 * lane l has word l % 4.
 */
function matrixProduct(at: Site): Step {
  const shape = at.oneOf(['16816', '16832']) ?? at.unknown()
  const depth = Number(shape.slice(3))
  const [left, right] = at.matching(/^[SU]8$/)
  const [elementOfA, elementOfB] = [elementOf(at, left), elementOf(at, right)]
  const [a, b, c] = at.operands.sources
  const { destination } = at.operands
  if (!a || !b || !c || !destination) return at.unknown()
  if (!at.suffix(a, 'ROW') || !at.suffix(b, 'COL')) return at.unknown()
  const parts = depth / 16
  const aRows = Array.from({ length: 2 * parts }, (_, part) => rowOf(at, a, part))
  const bRows = Array.from({ length: parts }, (_, part) => rowOf(at, b, part))
  const cRows = Array.from({ length: 4 }, (_, part) => rowOf(at, c, part))
  const dRows = cRows.map((_, part) => rowOf(at, destination, part))
  const { words } = at.views
  const ofA = new Int32Array(rows * depth)
  const ofB = new Int32Array(columns * depth)
  const sums = new Int32Array(4 * lanes)
  const unpack = (
    base: number,
    sources: readonly number[],
    rowsApart: number,
    element: (bits: number, place: number) => number,
    into: Int32Array,
  ): void => {
    for (const [part, source] of sources.entries()) {
      const first = (part % rowsApart) * 8 * depth + 16 * Math.floor(part / rowsApart)
      for (let lane = 0; lane < lanes; lane++) {
        const bits = source < 0 ? 0 : words[base + source + lane]!
        const from = first + (lane >> 2) * depth + 4 * (lane & 3)
        for (let place = 0; place < 4; place++) into[from + place] = element(bits, place)
      }
    }
  }
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    unpack(base, aRows, 2, elementOfA, ofA)
    unpack(base, bRows, 1, elementOfB, ofB)
    for (const [part, source] of cRows.entries())
      for (let lane = 0; lane < lanes; lane++) {
        const row = ((lane >> 2) + (part >= 2 ? 8 : 0)) * depth
        const column = (2 * (lane & 3) + (part & 1)) * depth
        let sum = source < 0 ? 0 : words[base + source + lane]!
        for (let k = 0; k < depth; k++) sum = (sum + ofA[row + k]! * ofB[column + k]!) | 0
        sums[part * lanes + lane] = sum
      }
    for (const [part, to] of dRows.entries())
      if (to >= 0)
        for (let lane = 0; lane < lanes; lane++)
          words[base + to + lane] = sums[part * lanes + lane]!
  }
}

export const byteProductSteps: Record<string, (at: Site) => Step> = {
  IDP: dotProduct,
  IMMA: matrixProduct,
}
