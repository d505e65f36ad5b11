/**
 * Matrix products of a warp, HMMA. Products are exact and are summed in double precision, then rounded to the nearest;
 * the tensor cores cut low bits of the sum off, so that a result may differ from theirs in its last bits.
 */
import { halfBits } from './float'
import { elementsOf, rowOf, signedSum, type Elements } from './matrix'
import { lanes, type Site } from './site'
import type { Step } from './warp'

const rows = 16
const columns = 8

/** Reads the fragment of a matrix: lane l has row l / 4 of it, and l % 4-th elements from each `4 * packed` along k. */
function readFragment(
  words: Int32Array,
  base: number,
  sources: readonly number[],
  { packed, read }: Elements,
  depth: number,
  rowsApart: number,
  into: Float64Array,
): void {
  for (let part = 0; part < sources.length; part++) {
    const source = sources[part]!
    const first = (part % rowsApart) * 8 * depth + 4 * packed * Math.floor(part / rowsApart)
    for (let lane = 0; lane < lanes; lane++) {
      const bits = source < 0 ? 0 : words[base + source + lane]!
      const at = first + (lane >> 2) * depth + packed * (lane & 3)
      if (packed === 1) into[at] = read(bits)
      else {
        into[at] = read(bits & 0xffff)
        into[at + 1] = read(bits >>> 16)
      }
    }
  }
}

function product(at: Site): Step {
  const shape = at.instruction.modifiers.find((word) => /^16(\d+)$/.test(word)) ?? at.unknown()
  const digits = shape.slice(2)
  const depth = Number(digits.slice(1))
  if (digits[0] !== '8' || (!at.has('F32') && !at.has('F16'))) return at.unknown()
  const elements = elementsOf(at)
  const [a, b, c] = at.operands.sources
  const { destination } = at.operands
  if (!a || !b || !c || !destination) return at.unknown()
  const parts = depth / (4 * elements.packed)
  const aRows = Array.from({ length: 2 * parts }, (_, part) => rowOf(at, a, part))
  const bRows = Array.from({ length: parts }, (_, part) => rowOf(at, b, part))
  const wide = at.has('F32')
  const cRows = Array.from({ length: wide ? 4 : 2 }, (_, part) => rowOf(at, c, part))
  const dRows = cRows.map((_, part) => rowOf(at, destination, part))
  const { words, floats } = at.views
  const halves = elementsOf(at, 'F16').read
  const left = new Float64Array(rows * depth)
  const right = new Float64Array(columns * depth)
  const sums = new Float64Array(4 * lanes)
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    readFragment(words, base, aRows, elements, depth, 2, left)
    readFragment(words, base, bRows, elements, depth, 1, right)
    for (let lane = 0; lane < lanes; lane++)
      for (let each = 0; each < 4; each++) {
        const row = ((lane >> 2) + (each >= 2 ? 8 : 0)) * depth
        const column = (2 * (lane & 3) + (each & 1)) * depth
        const from = cRows[wide ? each : each >> 1]!
        let sum = 0
        if (from >= 0)
          sum = wide
            ? floats[base + from + lane]!
            : halves((words[base + from + lane]! >>> (16 * (each & 1))) & 0xffff)
        for (let k = 0; k < depth; k++) sum += left[row + k]! * right[column + k]!
        sums[4 * lane + each] = sum
      }
    for (const [part, to] of dRows.entries()) {
      if (to < 0) continue
      for (let lane = 0; lane < lanes; lane++)
        words[base + to + lane] = wide
          ? signedSum(sums[4 * lane + part]!)
          : halfBits(sums[4 * lane + 2 * part]!) | (halfBits(sums[4 * lane + 2 * part + 1]!) << 16)
    }
  }
}

export const tensorSteps: Record<string, (at: Site) => Step> = {
  HMMA: product,
}
