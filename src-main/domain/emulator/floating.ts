/** FP32 and FP64 arithmetic, comparisons, the special functions and conversions. */
import type { Operand } from '../sass/instruction'
import {
  bitsOf,
  brainBits,
  doubleOf,
  flush,
  floatOf,
  fusedMultiplyAdd,
  halfBits,
  halfOf,
  multiplyAddDirected,
  wordsOf,
  type Rounding,
  smallFloats,
  smallOf,
} from './float'
import { finishComparison } from './integer'
import { eachLane, type Get, type Site } from './site'
import type { Step } from './warp'

type Table = Record<string, (at: Site) => Step>

const roundings = ['RZ', 'RM', 'RP'] as const

const roundingOf = (at: Site): Rounding => roundings.find((mode) => at.has(mode)) ?? 'RN'

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

const one: Get = () => 1
/** -0 is what adds nothing, to a product of -0 as well. */
const nothing: Get = () => -0

function compareFloat(whole: Site, read: (at: Site, operand: Operand) => Get): Step {
  const at = whole.compares()
  const name = at.instruction.modifiers[0]!
  const unordered = name.endsWith('U') && name !== 'U'
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
  const name = at.instruction.modifiers.find((word) => word in special)
  if (name === undefined || at.has('64H') || at.has('F16')) return at.unknown()
  const compute = special[name]!
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

// ---- Conversions -----------------------------------------------------------------------------------

const roundTo: Record<string, (value: number) => number> = {
  TRUNC: Math.trunc,
  FLOOR: Math.floor,
  CEIL: Math.ceil,
  ROUND: (value) => {
    const down = Math.floor(value)
    const rest = value - down
    return rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down
  },
}

const ranges: Record<string, [number, number]> = {
  U8: [0, 255],
  S8: [-128, 127],
  U16: [0, 65535],
  S16: [-32768, 32767],
  U32: [0, 2 ** 32 - 1],
  S32: [-(2 ** 31), 2 ** 31 - 1],
}

const double = (at: Site, operand: Operand): Get => {
  if (operand.kind === 'immediate') {
    const value = doubleOf(0, operand.bits)
    return () => value
  }
  const [low, high] = [at.raw(operand, 0), at.raw(operand, 1)]
  const modified =
    operand.kind === 'register' ||
    operand.kind === 'uniform-register' ||
    operand.kind === 'constant'
  return (base, lane) => {
    let value = doubleOf(low(base, lane), high(base, lane))
    if (modified && operand.absolute) value = Math.abs(value)
    if (modified && operand.negated) value = -value
    return value
  }
}

const halfSource = (at: Site, operand: Operand): Get => {
  const raw = at.raw(operand)
  const upper = 'suffixes' in operand && operand.suffixes.includes('H1_H1')
  const negated = 'negated' in operand && operand.negated
  const shift = upper ? 16 : 0
  return (base, lane) => {
    const value = halfOf((raw(base, lane) >>> shift) & 0xffff)
    return negated ? -value : value
  }
}

function floatToInteger(at: Site): Step {
  const from64 = at.has('F64')
  const from = from64
    ? double(at, at.source(0))
    : at.has('F16')
      ? halfSource(at, at.source(0))
      : at.float(at.source(0))
  const mode = ['TRUNC', 'FLOOR', 'CEIL'].find((word) => at.has(word)) ?? 'ROUND'
  const round = roundTo[mode]!
  const ftz = at.has('FTZ') ? flush : (value: number) => value
  const wide = at.has('U64') || at.has('S64')
  if (wide) {
    const signed = at.has('S64')
    const [low, high] = [at.put(0), at.put(1)]
    return eachLane((_, base, lane) => {
      const value = round(ftz(from(base, lane)))
      let result: bigint
      if (Number.isNaN(value)) result = 1n << 63n
      else {
        const [least, most] = signed ? [-(2 ** 63), 2 ** 63] : [0, 2 ** 64]
        result = value <= least ? BigInt(least) : value >= most ? BigInt(most) - 1n : BigInt(value)
      }
      low(base, lane, Number(BigInt.asIntN(32, result)))
      high(base, lane, Number(BigInt.asIntN(32, result >> 32n)))
    })
  }
  const type = Object.keys(ranges).find((word) => at.has(word)) ?? 'S32'
  const [least, most] = ranges[type]!
  const put = at.put()
  return eachLane((_, base, lane) => {
    const value = round(ftz(from(base, lane)))
    const whole = Number.isNaN(value)
      ? at.has('NTZ')
        ? 0
        : -(2 ** 31)
      : Math.min(Math.max(value, least), most)
    put(base, lane, whole | 0)
  })
}

/** A whole number that a double may not hold, rounded to a float in a direction. */
function wholeToFloat(value: bigint, mode: Rounding): number {
  const near = Math.fround(Number(value))
  if (BigInt(near) === value) return near
  if (mode === 'RN') {
    // The way over a double rounds twice; two floats around it settle it.
    return settle(value, near)
  }
  return directed(value, near, mode)
}

const step = (value: number, by: number): number => floatOf(bitsOf(value) + (value < 0 ? -by : by))

function settle(value: bigint, near: number): number {
  let best = near
  for (const by of [-1, 1]) {
    const other = near === 0 ? near : step(near, by)
    if (!Number.isFinite(other)) continue
    const distance = (float: number): bigint => {
      const left = value - BigInt(float)
      return left < 0n ? -left : left
    }
    const [a, b] = [distance(other), distance(best)]
    if (a < b || (a === b && (bitsOf(other) & 1) === 0)) best = other
  }
  return best
}

function directed(value: bigint, near: number, mode: Rounding): number {
  const left = value - BigInt(near)
  if (left === 0n) return near
  const up = mode === 'RP' || (mode === 'RZ' && value < 0n)
  if (left > 0n && up) return step(near, 1)
  if (left < 0n && !up) return step(near, -1)
  return near
}

function integerToFloat(at: Site): Step {
  const mode = roundingOf(at)
  const operand = at.source(0)
  const wide = at.has('U64') || at.has('S64')
  const unsigned = ['U8', 'U16', 'U32', 'U64'].some((word) => at.has(word))
  const bits = at.has('U8') || at.has('S8') ? 8 : at.has('U16') || at.has('S16') ? 16 : 32
  const low = at.int(operand, 0)
  const high = wide ? at.int(operand, 1) : () => 0
  const byte =
    'suffixes' in operand ? Number(/^B([0-3])$/.exec(operand.suffixes[0] ?? '')?.[1] ?? 0) : 0
  const value: Get = (base, lane) => {
    const word = low(base, lane) >> (8 * byte)
    if (bits === 32) return unsigned ? low(base, lane) >>> 0 : low(base, lane)
    const cut = (word << (32 - bits)) >> (32 - bits)
    return unsigned ? cut & (2 ** bits - 1) : cut
  }
  const whole = (base: number, lane: number): bigint => {
    const joined = (BigInt(high(base, lane)) << 32n) | BigInt(low(base, lane) >>> 0)
    return unsigned ? BigInt.asUintN(64, joined) : joined
  }
  if (at.has('F64')) {
    const [putLow, putHigh] = [at.put(0), at.put(1)]
    return eachLane((_, base, lane) => {
      const [a, b] = wordsOf(wide ? Number(whole(base, lane)) : value(base, lane))
      putLow(base, lane, a)
      putHigh(base, lane, b)
    })
  }
  const put = at.put()
  const half = at.has('F16')
  return eachLane((_, base, lane) => {
    const exact = wide ? whole(base, lane) : BigInt(value(base, lane))
    if (half) put(base, lane, halfBits(Number(exact)))
    else put(base, lane, bitsOf(wholeToFloat(exact, mode)))
  })
}

/** F2F: to and from FP64 and FP16. The formats stand in the order to, from. */
function floatToFloat(at: Site): Step {
  const [to, from] = at.instruction.modifiers.filter((word) => /^B?F\d+$/.test(word))
  const operand = at.source(0)
  const read =
    from === 'F64'
      ? double(at, operand)
      : from === 'F16'
        ? halfSource(at, operand)
        : at.float(operand)
  const ftz = at.has('FTZ') ? flush : (value: number) => value
  if (to === 'F64') {
    const [low, high] = [at.put(0), at.put(1)]
    return eachLane((_, base, lane) => {
      const [a, b] = wordsOf(ftz(read(base, lane)))
      low(base, lane, a)
      high(base, lane, b)
    })
  }
  if (roundingOf(at) !== 'RN') return at.unknown()
  const put = at.put()
  const bits: (value: number) => number =
    to === 'F16'
      ? halfBits
      : to === 'BF16'
        ? (value) => brainBits(Math.fround(value))
        : to === 'F32'
          ? (value) => bitsOf(Math.fround(value))
          : at.unknown()
  return eachLane((_, base, lane) => put(base, lane, bits(ftz(read(base, lane)))))
}

/** F2FP.UNPACK_B: two FP8 numbers of a half of a register as two halves, which hold them exactly. */
function unpackEights(at: Site): Step {
  const operand = at.source(0)
  const type = at.has('E4M3') ? smallFloats.e4m3 : at.has('E5M2') ? smallFloats.e5m2 : at.unknown()
  const shift = 'suffixes' in operand && operand.suffixes.includes('H1') ? 16 : 0
  const table = Int32Array.from({ length: 256 }, (_, bits) => halfBits(smallOf(bits, type)))
  const raw = at.raw(operand)
  const put = at.put()
  return eachLane((_, base, lane) => {
    const bits = raw(base, lane) >>> shift
    put(base, lane, (table[(bits >>> 8) & 0xff]! << 16) | table[bits & 0xff]!)
  })
}

/** F2FP: two floats packed as halves or bfloat16, the first one in the upper half. */
function pack(at: Site): Step {
  if (at.has('UNPACK_B')) return unpackEights(at)
  const brain = at.has('BF16')
  if (!brain && !at.has('F16')) return at.unknown()
  const to = brain ? brainBits : halfBits
  const a = at.float(at.source(0))
  const b = at.float(at.source(1))
  const put = at.put()
  const relu = at.has('RELU') ? (value: number) => Math.max(value, 0) : (value: number) => value
  return eachLane((_, base, lane) =>
    put(base, lane, (to(relu(a(base, lane))) << 16) | to(relu(b(base, lane)))),
  )
}

function roundFloatToWhole(at: Site): Step {
  const mode = ['TRUNC', 'FLOOR', 'CEIL'].find((word) => at.has(word)) ?? 'ROUND'
  const a = at.float(at.source(0))
  const put = at.put()
  return eachLane((_, base, lane) => put(base, lane, bitsOf(roundTo[mode]!(a(base, lane)))))
}

// ---- FP64 ------------------------------------------------------------------------------------------

/** Mantissa and exponent of a finite double. */
function parts(value: number): [bigint, number] {
  const [low, high] = wordsOf(value)
  const exponent = (high >>> 20) & 2047
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(low >>> 0)
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n)
  return [high < 0 ? -mantissa : mantissa, (exponent === 0 ? 1 : exponent) - 1075]
}

/** a * b + c for doubles, rounded once: by whole numbers. */
function fusedDouble(a: number, b: number, c: number): number {
  const product = a * b
  if (!Number.isFinite(product + c) || product === 0 || !Number.isFinite(a * b)) {
    if (!Number.isFinite(a) || !Number.isFinite(b) || !Number.isFinite(c) || a === 0 || b === 0)
      return product + c
  }
  const [ma, ea] = parts(a)
  const [mb, eb] = parts(b)
  const [mc, ec] = parts(c)
  const exponent = Math.min(ea + eb, ec)
  const sum = ((ma * mb) << BigInt(ea + eb - exponent)) + (mc << BigInt(ec - exponent))
  if (sum === 0n) return product + c
  let size = sum < 0n ? -sum : sum
  let at = exponent
  const extra = size.toString(2).length - 64
  if (extra > 0) {
    // Keeps 64 bits and whether any was lost, which is all that rounding to 53 asks for.
    const cut = BigInt(extra)
    const lost = (size & ((1n << cut) - 1n)) !== 0n
    size = (size >> cut) | (lost ? 1n : 0n)
    at += extra
  }
  const scaled = at < -1100 ? Number(size) * 2 ** -1000 * 2 ** (at + 1000) : Number(size) * 2 ** at
  return sum < 0n ? -scaled : scaled
}

function doubleArithmetic(kind: 'add' | 'multiply' | 'fused') {
  return (at: Site): Step => {
    const [a, b, c] = at.operands.sources.map((operand) => double(at, operand))
    const [low, high] = [at.put(0), at.put(1)]
    if (roundingOf(at) !== 'RN') return at.unknown()
    return eachLane((_, base, lane) => {
      const x = a!(base, lane)
      const y = b!(base, lane)
      const value =
        kind === 'add' ? x + y : kind === 'multiply' ? x * y : fusedDouble(x, y, c!(base, lane))
      const [first, second] = wordsOf(value)
      low(base, lane, first)
      high(base, lane, second)
    })
  }
}

export const floatingSteps: Table = {
  FFMA: (at) =>
    ternary(at, [0, 1, 2].map((place) => at.float(at.source(place))) as [Get, Get, Get]),
  FMUL: (at) => ternary(at, [at.float(at.source(0)), at.float(at.source(1)), nothing]),
  FADD: (at) => ternary(at, [at.float(at.source(0)), one, at.float(at.source(1))]),
  FSETP: (at) => compareFloat(at, (site, operand) => site.float(operand)),
  FMNMX: extremumFloat,
  FCHK: checkDivision,
  MUFU: specialFunction,
  F2I: floatToInteger,
  I2F: integerToFloat,
  I2FP: integerToFloat,
  F2F: floatToFloat,
  F2FP: pack,
  FRND: roundFloatToWhole,
  DADD: doubleArithmetic('add'),
  DMUL: doubleArithmetic('multiply'),
  DFMA: doubleArithmetic('fused'),
  DSETP: (at) => compareFloat(at, double),
}
