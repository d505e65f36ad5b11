/** Two halves or two bfloat16 in a register: HADD2, HMUL2, HFMA2 and their comparisons. */
import type { Operand } from '../sass/instruction'
import { brainBits, brainOf, floatOf, halfBits, halfOf } from './float'
import { eachLane, type Site } from './site'
import type { Step } from './warp'

type Pair = (base: number, lane: number) => [number, number]

/** Low and high half of an operand, as numbers. */
function pairOf(at: Site, operand: Operand, toNumber: (bits: number) => number): Pair {
  const raw = at.raw(operand)
  if (operand.kind === 'immediate') {
    const bits = operand.bits
    const pair: [number, number] = [toNumber(bits & 0xffff), toNumber((bits >>> 16) & 0xffff)]
    return () => pair
  }
  if (!('suffixes' in operand) || !('negated' in operand)) return at.unknown()
  const { negated, absolute } = at.take(operand, 'negated', 'absolute')
  const adjust = (value: number): number => {
    const size = absolute ? Math.abs(value) : value
    return negated ? -size : size
  }
  if (at.suffix(operand, 'F32'))
    return (base, lane) => {
      const value = adjust(floatOf(raw(base, lane)))
      return [value, value]
    }
  const low = at.suffix(operand, 'H1_H1') ? 16 : 0
  const high = at.suffix(operand, 'H0_H0') ? 0 : 16
  return (base, lane) => {
    const word = raw(base, lane)
    return [adjust(toNumber((word >>> low) & 0xffff)), adjust(toNumber((word >>> high) & 0xffff))]
  }
}

/**
 * The sum or product of halves is exact in a double, and so is a product plus a third half but for rare cases that lie
 * far apart in size, where the double's rounding cannot be seen in eleven bits.
 */
function packed(
  at: Site,
  combine: (a: number, b: number, c: number) => number,
  count: number,
): Step {
  const brain = at.has('BF16_V2') || at.has('BF16')
  const toNumber = brain ? brainOf : halfOf
  const toBits = brain ? (value: number) => brainBits(Math.fround(value)) : halfBits
  if (at.has('F32')) return widen(at, toNumber)
  const sources = at.operands.sources
  // A pair of immediates is one operand or two, as the disassembler prints it.
  if (sources.length < count) return at.unknown()
  const pairs = sources.slice(0, count).map((operand) => pairOf(at, operand, toNumber))
  const put = at.put()
  const saturate = at.has('SAT')
  const relu = at.has('RELU')
  const finish = (value: number): number => {
    if (saturate) return toBits(value > 0 ? Math.min(value, 1) : 0)
    return toBits(relu && value < 0 ? 0 : value)
  }
  return eachLane((_, base, lane) => {
    const [a, b, c] = pairs.map((pair) => pair(base, lane))
    const low = finish(combine(a![0], b![0], c?.[0] ?? 0))
    const high = finish(combine(a![1], b![1], c?.[1] ?? 0))
    put(base, lane, (high << 16) | low)
  })
}

/** HADD2.F32: the low half of a sum as a float, which is how a half becomes one. */
function widen(at: Site, toNumber: (bits: number) => number): Step {
  const [a, b] = [0, 1].map((place) => pairOf(at, at.source(place), toNumber))
  const put = at.put()
  const bits = new Int32Array(1)
  const float = new Float32Array(bits.buffer)
  return eachLane((_, base, lane) => {
    float[0] = a!(base, lane)[0] + b!(base, lane)[0]
    put(base, lane, Number.isNaN(float[0]) ? 0x7fffffff : bits[0]!)
  })
}

export const packedSteps: Record<string, (at: Site) => Step> = {
  HADD2: (at) => packed(at, (a, b) => a + b, 2),
  HMUL2: (at) => packed(at, (a, b) => a * b, 2),
  HFMA2: (at) => packed(at, (a, b, c) => a * b + c, 3),
}
