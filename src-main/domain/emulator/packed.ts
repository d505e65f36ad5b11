/**
 * Packed arithmetic (HADD2, HMUL2, HFMA2) and packed comparisons on two FP16 or BF16 numbers per
 * register.
 */
import { zeroRegister, type Operand } from '../sass/instruction'
import { brainBits, bfloatBitsOf, bfloatOf, halfBits, halfOf, sumError } from './float'
import { eachLane, type Site } from './site'
import type { Step } from './warp'

type Pair = (base: number, lane: number) => [number, number]

/** Returns a function that reads an operand's low and high halves as numbers. */
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
  // HFMA2.MMA uses the two halves in order. Apart from HFMA2.MMA, GPUs reject packed instructions
  // that combine an F32 operand with half operands.
  const plain = at.mnemonic === 'HFMA2' && at.has('MMA')
  const low = !plain && at.suffix(operand, 'H1_H1') ? 16 : 0
  const high = !plain && at.suffix(operand, 'H0_H0') ? 0 : 16
  return (base, lane) => {
    const word = raw(base, lane)
    return [adjust(toNumber((word >>> low) & 0xffff)), adjust(toNumber((word >>> high) & 0xffff))]
  }
}

/**
 * Returns the function that executes a packed operation. The product of two FP16 or BF16 numbers is
 * exact in a double. For FP16, the sum is also exact, or its rounding error is too small to affect
 * the 11-bit result. For BF16, the rounding error is added separately.
 */
function packed(
  at: Site,
  count: number,
  product: (a: number, b: number) => number,
  addend: (b: number, c: number) => number,
): Step {
  const brain = at.has('BF16_V2') || at.has('BF16')
  const toNumber = brain ? bfloatOf : halfOf
  if (at.has('F32')) return widen(at, toNumber)
  const sources = at.operands.sources
  // There may be more sources than expected, because the disassembler can print a pair of
  // immediates as two operands.
  if (sources.length < count) return at.unknown()
  const pairs = sources.slice(0, count).map((operand) => pairOf(at, operand, toNumber))
  const put = at.put()
  const saturate = at.has('SAT')
  const relu = at.has('RELU')
  if (brain && saturate) return at.unknown('bfloat16 that is saturated, which a GPU refuses')
  const toBits = (value: number, a: number, b: number): number => {
    if (saturate && value >= 1) return brain ? brainBits(1) : halfBits(1)
    if ((saturate && !(value > 0)) || (relu && value < 0)) return 0
    return brain ? bfloatBitsOf(value, sumError(a, b, value)) : halfBits(value)
  }
  const finish = (a: number, b: number, c: number): number => {
    const [x, y] = [product(a, b), addend(b, c)]
    return toBits(x + y, x, y)
  }
  return eachLane((_, base, lane) => {
    const [a, b, c] = pairs.map((pair) => pair(base, lane))
    const low = finish(a![0], b![0], c?.[0] ?? 0)
    const high = finish(a![1], b![1], c?.[1] ?? 0)
    put(base, lane, (high << 16) | low)
  })
}

/**
 * HADD2.F32: returns the low half of a sum as a float. Compilers convert FP16 to FP32 with
 * HADD2.F32.
 */
function widen(at: Site, toNumber: (bits: number) => number): Step {
  const first = at.source(0)
  if (first.kind !== 'register' || first.index !== zeroRegister)
    return at.unknown('a sum of two halves as a float, which a GPU refuses')
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
  HADD2: (at) =>
    packed(
      at,
      2,
      (a) => a,
      (b) => b,
    ),
  HMUL2: (at) =>
    packed(
      at,
      2,
      (a, b) => a * b,
      () => -0,
    ),
  HFMA2: (at) =>
    packed(
      at,
      3,
      (a, b) => a * b,
      (_, c) => c,
    ),
}
