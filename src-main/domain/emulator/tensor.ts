/**
 * Matrix products of a warp: HMMA and IMMA. Products are exact and are summed in double precision, then rounded to the
 * nearest; the tensor cores cut low bits of the sum off, so that a result may differ from theirs in its last bits.
 */
import { bitsOf, brainOf, halfBits, halfOf, tensorFloat } from './float'
import { lanes, type Site } from './site'
import type { Step } from './warp'

const rows = 16
const columns = 8

interface Elements {
  /** Elements in a register. */
  packed: number
  value: (register: number, place: number) => number
}

function elementsOf(at: Site): Elements {
  if (at.has('TF32')) return { packed: 1, value: (bits) => tensorFloat(bits) }
  const toNumber = at.has('BF16') ? brainOf : halfOf
  return {
    packed: 2,
    value: (bits, place) => toNumber((bits >>> (16 * place)) & 0xffff),
  }
}

function product(at: Site): Step {
  const shape = at.instruction.modifiers.find((word) => /^16(\d+)$/.test(word)) ?? at.unknown()
  const digits = shape.slice(2)
  const depth = Number(digits.slice(1))
  if (digits[0] !== '8' || (!at.has('F32') && !at.has('F16'))) return at.unknown()
  const { packed, value } = elementsOf(at)
  const [a, b, c] = at.operands.sources
  if (!a || !b || !c) return at.unknown()
  const step = 4 * packed
  const parts = depth / step
  const aRegisters = Array.from({ length: 2 * parts }, (_, part) => at.raw(a, part))
  const bRegisters = Array.from({ length: parts }, (_, part) => at.raw(b, part))
  const wide = at.has('F32')
  const cRegisters = Array.from({ length: wide ? 4 : 2 }, (_, part) => at.raw(c, part))
  const puts = cRegisters.map((_, part) => at.put(part))
  const left = new Float64Array(rows * depth)
  const right = new Float64Array(depth * columns)
  const bits = new Int32Array(1)
  const float = new Float32Array(bits.buffer)
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    for (let lane = 0; lane < lanes; lane++) {
      const group = lane >> 2
      const member = lane & 3
      for (let part = 0; part < parts; part++)
        for (let place = 0; place < packed; place++) {
          const k = step * part + packed * member + place
          left[group * depth + k] = value(aRegisters[2 * part]!(base, lane), place)
          left[(group + 8) * depth + k] = value(aRegisters[2 * part + 1]!(base, lane), place)
          right[k * columns + group] = value(bRegisters[part]!(base, lane), place)
        }
    }
    const results = new Float64Array(4 * lanes)
    for (let lane = 0; lane < lanes; lane++)
      for (let each = 0; each < 4; each++) {
        const row = (lane >> 2) + (each >= 2 ? 8 : 0)
        const column = 2 * (lane & 3) + (each & 1)
        let sum: number
        if (wide) {
          bits[0] = cRegisters[each]!(base, lane)
          sum = float[0]!
        } else sum = halfOf((cRegisters[each >> 1]!(base, lane) >>> (16 * (each & 1))) & 0xffff)
        for (let k = 0; k < depth; k++) sum += left[row * depth + k]! * right[k * columns + column]!
        results[4 * lane + each] = sum
      }
    for (let lane = 0; lane < lanes; lane++)
      if (wide)
        for (let each = 0; each < 4; each++)
          puts[each]!(base, lane, bitsOf(Math.fround(results[4 * lane + each]!)))
      else
        for (let pair = 0; pair < 2; pair++) {
          const [low, high] = [results[4 * lane + 2 * pair]!, results[4 * lane + 2 * pair + 1]!]
          puts[pair]!(base, lane, halfBits(low) | (halfBits(high) << 16))
        }
  }
}

export const tensorSteps: Record<string, (at: Site) => Step> = {
  HMMA: product,
}
