/** FP32 and FP64 arithmetic, comparisons and special functions. */
import type { Operand } from '../sass/instruction'
import { bitsOf, flush, fusedMultiplyAdd, multiplyAddDirected } from './float'
import { finishComparison } from './integer'
import { eachLane, type Get, type Site } from './site'
import type { Step } from './warp'
import { roundingOf, isZeroOrLess } from './rounding-modes'
import { double, doubleArithmetic } from './fp64'

export type Table = Record<string, (at: Site) => Step>

const saturated = (value: number): number => (value > 0 ? Math.min(value, 1) : 0)

/**
 * Returns a function that computes a * b + c and applies the modifiers. Saturation converts NaN to
 * 0.
 */
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
/**
 * Returns a zero with the sign of the product. Adding this zero never changes the product, in any
 * rounding mode.
 */
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
 * Special functions. JavaScript computes each function, and the result is rounded once. A GPU
 * approximates the functions with an error of up to two units in the last place. The last bits of
 * the emulator's results can therefore differ from a GPU's.
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
    // Flush denormal inputs and results to zero. Square roots and the exponential's argument are
    // exceptions to the flushing.
    const result = compute(flush(a(base, lane)))
    put(base, lane, bitsOf(flush(Math.fround(result))))
  })
}

/**
 * Returns the function that executes FCHK. FCHK tests whether the division a / b needs the slow
 * path. The result depends only on the operands' exponents. At the limits of the exponent range, a
 * GPU may give a different result.
 */
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
