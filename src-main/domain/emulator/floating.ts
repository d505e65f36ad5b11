/** FP32 and FP64 arithmetic, comparisons and the special functions. */
import type { Operand } from '../sass/instruction'
import {
  bitsOf,
  doubleOf,
  flush,
  fusedMultiplyAdd,
  isNaNDouble,
  multiplyAddDirected,
  wordsOf,
  type Rounding,
} from './float'
import { finishComparison } from './integer'
import { eachLane, type Get, type Site } from './site'
import type { Step } from './warp'

export type Table = Record<string, (at: Site) => Step>

const roundings = ['RZ', 'RM', 'RP'] as const

export const roundingOf = (at: Site): Rounding => roundings.find((mode) => at.has(mode)) ?? 'RN'

const saturated = (value: number): number => (value > 0 ? Math.min(value, 1) : 0)

/** a * b + c with what the modifiers say; a NaN becomes 0 where the result is saturated. */
function floatResult(at: Site): (a: number, b: number, c: number) => number {
  const mode = roundingOf(at)
  let compute: (a: number, b: number, c: number) => number =
    mode === 'RN' ? fusedMultiplyAdd : (a, b, c) => multiplyAddDirected(a, b, c, mode)
  if (at.has('FTZ')) {
    const inner = compute
    compute = (a, b, c) => flush(inner(flush(a), flush(b), flush(c)))
  }
  if (at.has('SAT')) {
    const inner = compute
    compute = (a, b, c) => saturated(inner(a, b, c))
  }
  return compute
}

function ternary(at: Site, [a, b, c]: [Get, Get, Get]): Step {
  const compute = floatResult(at)
  const put = at.put()
  return eachLane((_, base, lane) =>
    put(base, lane, bitsOf(compute(a(base, lane), b(base, lane), c(base, lane)))),
  )
}

const isZeroOrLess = (value: number): boolean => value < 0 || Object.is(value, -0)

const one: Get = () => 1
/** A zero of the sign of a product: it adds nothing, however the sum is rounded. */
const nothing =
  (a: Get, b: Get): Get =>
  (base, lane) =>
    isZeroOrLess(a(base, lane)) === isZeroOrLess(b(base, lane)) ? 0 : -0

function compareFloat(whole: Site, read: (at: Site, operand: Operand) => Get): Step {
  const at = whole.compares()
  const name = at.matching(/^(LT|LE|GT|GE|EQ|NE)U?$|^(NUM|NAN|T|F)$/)[0] ?? at.unknown()
  const unordered = name.endsWith('U')
  const order = unordered ? name.slice(0, -1) : name
  const tests: Record<string, (a: number, b: number) => boolean> = {
    LT: (a, b) => a < b,
    LE: (a, b) => a <= b,
    GT: (a, b) => a > b,
    GE: (a, b) => a >= b,
    EQ: (a, b) => a === b,
    NE: (a, b) => a < b || a > b,
    NUM: (a, b) => !Number.isNaN(a) && !Number.isNaN(b),
    NAN: (a, b) => Number.isNaN(a) || Number.isNaN(b),
    T: () => true,
    F: () => false,
  }
  const test = tests[order] ?? at.unknown(name)
  const a = read(at, at.source(0))
  const b = read(at, at.source(1))
  const ftz = at.has('FTZ') ? flush : (value: number) => value
  const finish = finishComparison(at)
  return (warp, active) => {
    let mask = 0
    eachLane((_, base, lane) => {
      const x = ftz(a(base, lane))
      const y = ftz(b(base, lane))
      if (test(x, y) || (unordered && (Number.isNaN(x) || Number.isNaN(y)))) mask |= 1 << lane
    })(warp, active)
    finish(warp, active, mask)
  }
}

function extremumFloat(at: Site): Step {
  const a = at.float(at.source(0))
  const b = at.float(at.source(1))
  const smaller = at.predicate(at.operands.ins[0])
  const ftz = at.has('FTZ') ? flush : (value: number) => value
  const put = at.put()
  const keepsNaN = at.has('NAN')
  return (warp, active) => {
    const choose = smaller(warp)
    eachLane((_, base, lane) => {
      const x = ftz(a(base, lane))
      const y = ftz(b(base, lane))
      let value: number
      if (Number.isNaN(x) || Number.isNaN(y)) value = keepsNaN ? NaN : Number.isNaN(x) ? y : x
      else value = (choose >>> lane) & 1 ? Math.min(x, y) : Math.max(x, y)
      put(base, lane, bitsOf(value))
    })(warp, active)
  }
}

/**
 * The special functions, from JavaScript's and rounded once. A GPU's are approximations with an error of up to two
 * units in the last place, so that a result may differ there in its last bits.
 */
const special: Record<string, (a: number) => number> = {
  RCP: (a) => 1 / a,
  RSQ: (a) => 1 / Math.sqrt(a),
  SQRT: Math.sqrt,
  LG2: Math.log2,
  EX2: (a) => 2 ** a,
  SIN: (a) => Math.sin(a * 2 * Math.PI),
  COS: (a) => Math.cos(a * 2 * Math.PI),
  TANH: Math.tanh,
}

function specialFunction(at: Site): Step {
  const compute = special[at.oneOf(Object.keys(special)) ?? at.unknown()]!
  const a = at.float(at.source(0))
  const put = at.put()
  return eachLane((_, base, lane) => {
    // Denormal inputs and results are zero, but for the square roots and the exponential's argument.
    const result = compute(flush(a(base, lane)))
    put(base, lane, bitsOf(flush(Math.fround(result))))
  })
}

/** Whether a division a / b is one that the short sequence cannot do: by exponents, as the manual's code has it. */
function checkDivision(whole: Site): Step {
  const at = whole.compares()
  const a = at.float(at.source(0))
  const b = at.float(at.source(1))
  const out = at.putPredicate(at.operands.outs[0])
  const exponent = (value: number): number => (bitsOf(value) >>> 23) & 255
  return (warp, active) => {
    let mask = 0
    eachLane((_, base, lane) => {
      const x = exponent(a(base, lane))
      const y = exponent(b(base, lane))
      const quotient = x - y
      const hard =
        x === 255 ||
        y === 255 ||
        y <= 1 ||
        y >= 253 ||
        x <= 24 ||
        quotient <= -125 ||
        quotient >= 126
      if (hard) mask |= 1 << lane
    })(warp, active)
    out(warp, active, mask)
  }
}

// ---- FP64 ------------------------------------------------------------------------------------------

export interface DoubleOperand {
  value: Get
  low: Get
  high: Get
}

/** A double, whose halves are in two registers; `low` and `high` are its words before its sign is changed. */
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

/** Mantissa and exponent of a finite double. */
function parts(value: number): [bigint, number] {
  const [low, high] = wordsOf(value)
  const exponent = (high >>> 20) & 2047
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(low >>> 0)
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n)
  return [high < 0 ? -mantissa : mantissa, (exponent === 0 ? 1 : exponent) - 1075]
}

/** sum * 2^exponent as a double, rounded once; `sum` is not 0. */
function roundDouble(sum: bigint, exponent: number, mode: Rounding): number {
  const size = sum < 0n ? -sum : sum
  const length = size.toString(2).length
  // The exponent of the last bit that is kept, which denormal numbers share.
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

/** a * b + c for doubles, rounded once: by whole numbers. */
function fusedDouble(a: number, b: number, c: number, mode: Rounding): number {
  const product = a * b
  if (![a, b, c].every(Number.isFinite)) return product + c
  const [ma, ea] = parts(a)
  const [mb, eb] = parts(b)
  const [mc, ec] = parts(c)
  const exponent = Math.min(ea + eb, ec)
  const sum = ((ma * mb) << BigInt(ea + eb - exponent)) + (mc << BigInt(ec - exponent))
  if (sum !== 0n) return roundDouble(sum, exponent, mode)
  // Both of one sign, or numbers that cancel.
  const [first, second] = [isZeroOrLess(a) !== isZeroOrLess(b), isZeroOrLess(c)]
  return first === second ? (first ? -0 : 0) : mode === 'RM' ? -0 : 0
}

/** The first operand that is not a number is the result, made quiet; its sign is not changed. */
function nanOf(operands: readonly DoubleOperand[], base: number, lane: number): [number, number] {
  for (const { low, high } of [operands[1]!, operands[0]!, operands[2] ?? operands[0]!]) {
    const words = [low(base, lane), high(base, lane)] as const
    if (isNaNDouble(...words)) return [words[0], words[1] | 0x80000]
  }
  return [0, 0xfff80000 | 0]
}

function doubleArithmetic(kind: 'add' | 'multiply' | 'fused') {
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

export const floatingSteps: Table = {
  FFMA: (at) =>
    ternary(at, [0, 1, 2].map((place) => at.float(at.source(place))) as [Get, Get, Get]),
  FMUL: (at) => {
    const [a, b] = [at.float(at.source(0)), at.float(at.source(1))]
    return ternary(at, [a, b, nothing(a, b)])
  },
  FADD: (at) => ternary(at, [at.float(at.source(0)), one, at.float(at.source(1))]),
  FSETP: (at) => compareFloat(at, (site, operand) => site.float(operand)),
  FMNMX: extremumFloat,
  FCHK: checkDivision,
  MUFU: specialFunction,
  DADD: doubleArithmetic('add'),
  DMUL: doubleArithmetic('multiply'),
  DFMA: doubleArithmetic('fused'),
  DSETP: (at) => compareFloat(at, double),
}
