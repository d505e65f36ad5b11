/** Warp-level matrix products (HMMA). */
import { halfBits } from './float'
import { lanes, type Site } from './site'
import type { Step } from './warp'
import { alignedSums } from './fused/aligned-sums'
import { leastFloat, halfTable, elementsOf, readFragment, rowOf, rows } from './matrix-layout'
import { kept, transpose, cutFloat } from './tensor-core-sums'

const columns = 8

function product(at: Site): Step {
  const shape = at.matching(/^16(\d+)$/)[0] ?? at.unknown()
  const digits = shape.slice(2)
  const depth = Number(digits.slice(1))
  const wide = at.has('F32')
  if (digits[0] !== '8' || (!wide && !at.has('F16'))) return at.unknown()
  const elements = elementsOf(at)
  if (!wide && elements.table !== halfTable()) return at.unknown('a product that a GPU refuses')
  const [a, b, c] = at.operands.sources
  const { destination } = at.operands
  if (!a || !b || !c || !destination) return at.unknown()
  const parts = depth / (4 * elements.packed)
  const aRows = Array.from({ length: 2 * parts }, (_, part) => rowOf(at, a, part))
  const bRows = Array.from({ length: parts }, (_, part) => rowOf(at, b, part))
  const cRows = Array.from({ length: wide ? 4 : 2 }, (_, part) => rowOf(at, c, part))
  const dRows = cRows.map((_, part) => rowOf(at, destination, part))
  const { words, floats } = at.views
  const half = halfTable()
  const { leastNormal } = elements
  const leastAddend = wide ? leastFloat : leastNormal
  const { left, right, sums, add } = alignedSums({
    ...{ rows, columns, depth, leastNormal, leastAddend, bits: kept },
  })
  const byColumn = new Float64Array(columns * depth)
  /** Returns the index in `sums` of one of a lane's four elements. */
  const placeOf = (lane: number, each: number): number =>
    ((lane >> 2) + (each >= 2 ? 8 : 0)) * columns + 2 * (lane & 3) + (each & 1)
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    readFragment(words, base, aRows, elements, depth, 2, left)
    readFragment(words, base, bRows, elements, depth, 1, byColumn)
    transpose(byColumn, columns, right)
    for (let lane = 0; lane < lanes; lane++)
      for (let each = 0; each < 4; each++) {
        const from = cRows[wide ? each : each >> 1]!
        let before = 0
        if (from >= 0)
          before = wide
            ? floats[base + from + lane]!
            : half[(words[base + from + lane]! >>> (16 * (each & 1))) & 0xffff]!
        sums[placeOf(lane, each)] = before
      }
    add()
    for (const [part, to] of dRows.entries()) {
      if (to < 0) continue
      for (let lane = 0; lane < lanes; lane++)
        words[base + to + lane] = wide
          ? cutFloat(sums[placeOf(lane, part)]!)
          : halfBits(sums[placeOf(lane, 2 * part)]!) |
            (halfBits(sums[placeOf(lane, 2 * part + 1)]!) << 16)
    }
  }
}

export const tensorSteps: Record<string, (at: Site) => Step> = {
  HMMA: product,
}
