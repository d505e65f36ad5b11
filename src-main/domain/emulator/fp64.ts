/** FP64 arithmetic: register pairs, rounding, and fused multiply-add. */
import type { Operand } from '../sass/instruction'
import { doubleOf, isNaNDouble, wordsOf, type Rounding } from './float'
import { eachLane, type Get, type Site } from './site'
import type { Step } from './warp'
import { roundingOf, isZeroOrLess } from './rounding-modes'

interface DoubleOperand {
  value: Get
  low: Get
  high: Get
}

/**
 * Returns functions that read a double from a register pair. `low` and `high` read the words as
 * stored, without `-` or `|x|`.
 */
export const doubleWords = (at: Site, operand: Operand): DoubleOperand => {
  if (operand.kind === 'immediate') {
    const { bits } = at.take(operand, 'value')
    const value = doubleOf(0, bits)
    return { value: () => value, low: () => 0, high: () => bits | 0 }
  }
  const [low, high] = [at.raw(operand, 0, 'absolute', 'negated'), at.raw(operand, 1)]
  const modified =
    operand.kind === 'register' ||
    operand.kind === 'uniform-register' ||
    operand.kind === 'constant'
  const value: Get = (base, lane) => {
    let value = doubleOf(low(base, lane), high(base, lane))
    if (modified && operand.absolute) value = Math.abs(value)
    if (modified && operand.negated) value = -value
    return value
  }
  return { value, low, high }
}

export const double = (at: Site, operand: Operand): Get => doubleWords(at, operand).value

/** Returns the mantissa and exponent of a finite double. */
function parts(value: number): [bigint, number] {
  const [low, high] = wordsOf(value)
  const exponent = (high >>> 20) & 2047
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(low >>> 0)
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n)
  return [high < 0 ? -mantissa : mantissa, (exponent === 0 ? 1 : exponent) - 1075]
}

/** Returns sum * 2^exponent, rounded once to a double. `sum` must not be 0. */
function roundDouble(sum: bigint, exponent: number, mode: Rounding): number {
  const size = sum < 0n ? -sum : sum
  const length = size.toString(2).length
  // Exponent of the last bit of the result. All denormal numbers share one exponent.
  const last = Math.max(exponent + length - 53, -1074)
  const cut = last - exponent
  let mantissa = size
  if (cut > 0) {
    mantissa = size >> BigInt(cut)
    const rest = size - (mantissa << BigInt(cut))
    const half = 1n << BigInt(cut - 1)
    const away = mode === (sum < 0n ? 'RM' : 'RP')
    if (
      mode === 'RN' ? rest > half || (rest === half && (mantissa & 1n) === 1n) : away && rest > 0n
    )
      mantissa++
  } else mantissa <<= BigInt(-cut)
  let value = Number(mantissa) * 2 ** last
  if (value === Infinity && (mode === 'RZ' || mode === (sum < 0n ? 'RP' : 'RM')))
    value = Number.MAX_VALUE
  return sum < 0n ? -value : value
}

/** Returns a * b + c for doubles, rounded once, using integer arithmetic. */
function fusedDouble(a: number, b: number, c: number, mode: Rounding): number {
  const product = a * b
  if (![a, b, c].every(Number.isFinite)) return product + c
  const [ma, ea] = parts(a)
  const [mb, eb] = parts(b)
  const [mc, ec] = parts(c)
  const exponent = Math.min(ea + eb, ec)
  const sum = ((ma * mb) << BigInt(ea + eb - exponent)) + (mc << BigInt(ec - exponent))
  if (sum !== 0n) return roundDouble(sum, exponent, mode)
  // A sum of two zeros with the same sign keeps this sign. For any other zero sum, the rounding
  // mode determines the sign.
  const [first, second] = [isZeroOrLess(a) !== isZeroOrLess(b), isZeroOrLess(c)]
  return first === second ? (first ? -0 : 0) : mode === 'RM' ? -0 : 0
}

/**
 * Returns the first NaN among operands b, a and c, in this order. The NaN becomes quiet and keeps
 * its sign.
 */
function nanOf(operands: readonly DoubleOperand[], base: number, lane: number): [number, number] {
  for (const { low, high } of [operands[1]!, operands[0]!, operands[2] ?? operands[0]!]) {
    const words = [low(base, lane), high(base, lane)] as const
    if (isNaNDouble(...words)) return [words[0], words[1] | 0x80000]
  }
  return [0, 0xfff80000 | 0]
}

export function doubleArithmetic(kind: 'add' | 'multiply' | 'fused') {
  return (at: Site): Step => {
    const operands = at.operands.sources.map((operand) => doubleWords(at, operand))
    const [a, b, c] = operands.map(({ value }) => value)
    const [low, high] = [at.put(0), at.put(1)]
    const mode = roundingOf(at)
    const near = mode === 'RN'
    return eachLane((_, base, lane) => {
      const x = a!(base, lane)
      const y = b!(base, lane)
      const value =
        kind === 'add'
          ? near
            ? x + y
            : fusedDouble(x, 1, y, mode)
          : kind === 'multiply'
            ? near
              ? x * y
              : fusedDouble(x, y, isZeroOrLess(x) !== isZeroOrLess(y) ? -0 : 0, mode)
            : fusedDouble(x, y, c!(base, lane), mode)
      const [first, second] = Number.isNaN(value) ? nanOf(operands, base, lane) : wordsOf(value)
      low(base, lane, first)
      high(base, lane, second)
    })
  }
}
