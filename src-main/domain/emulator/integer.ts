/**
 * Integer arithmetic, logic, shifts and comparisons. Uniform instructions use the same code as
 * per-lane instructions. For example, UIADD3 is implemented by the code for IADD3.
 */
import { multiplyHigh, multiplyHighSigned } from './float'
import { eachLane, type Get, type Site } from './site'
import type { Step } from './warp'
import type { Operand } from '../sass/instruction'
import {
  leftHigh,
  funnel,
  immediate,
  logic,
  predicateLogic,
  reverse,
  findLeading,
  permute,
  bitMask,
  signExtend,
  popCount,
} from './bits'

type Table = Record<string, (at: Site) => Step>

const unary =
  (value: (a: number) => number) =>
  (at: Site): Step => {
    const a = at.int(at.source(0))
    const put = at.put()
    return eachLane((_, base, lane) => put(base, lane, value(a(base, lane))))
  }

/**
 * Returns a function that reads an operand as an addend of an unsigned sum. A negated operand
 * becomes its complement plus the carry.
 */
function addend(at: Site, operand: Operand): Get {
  const raw = at.raw(operand, 0, 'negated', 'inverted')
  const modified = operand.kind !== 'immediate' && 'negated' in operand
  if (modified && operand.negated) return (base, lane) => 2 ** 32 - (raw(base, lane) >>> 0)
  if (modified && 'inverted' in operand && operand.inverted)
    return (base, lane) => ~raw(base, lane) >>> 0
  return (base, lane) => raw(base, lane) >>> 0
}

const isNegated = (operand: Operand): boolean => 'negated' in operand && operand.negated

function addThree(at: Site): Step {
  if (at.has('64')) return addWide(at)
  const [a, b, c] = [0, 1, 2].map((place) => addend(at, at.source(place))) as [Get, Get, Get]
  if (isNegated(at.source(0)) && isNegated(at.source(1)))
    return at.unknown('two negated operands, which a GPU refuses')
  const put = at.put()
  const carries = at.has('X') ? at.operands.ins.map((operand) => at.predicate(operand)) : []
  const outs = at.operands.outs.map((operand) => at.putPredicate(operand))
  return (warp, active) => {
    const ins = carries.map((carry) => carry(warp))
    let first = 0
    let second = 0
    eachLane((_, base, lane) => {
      let sum = a(base, lane) + b(base, lane) + c(base, lane)
      for (const mask of ins) sum += (mask >>> lane) & 1
      put(base, lane, sum | 0)
      if (sum >= 2 ** 32) first |= 1 << lane
      if (sum >= 2 ** 33) second |= 1 << lane
    })(warp, active)
    // If both outputs name the same predicate, the first output wins.
    outs[1]?.(warp, active, second)
    outs[0]?.(warp, active, first)
  }
}

const joined = (low: Get, high: Get): ((base: number, lane: number) => bigint) => {
  return (base, lane) => (BigInt(high(base, lane)) << 32n) | BigInt(low(base, lane) >>> 0)
}

function addWide(at: Site): Step {
  const sources = at.operands.sources.map((operand) => {
    const get = joined(at.raw(operand, 0, 'negated'), at.raw(operand, 1))
    const negated = 'negated' in operand && operand.negated
    return negated ? (base: number, lane: number) => -get(base, lane) : get
  })
  const [low, high] = [at.put(0), at.put(1)]
  return eachLane((_, base, lane) => {
    const sum = sources.reduce((total, get) => total + get(base, lane), 0n)
    low(base, lane, Number(BigInt.asIntN(32, sum)))
    high(base, lane, Number(BigInt.asIntN(32, sum >> 32n)))
  })
}

function multiplyAdd(at: Site): Step {
  const [first, second, third] = [at.source(0), at.source(1), at.source(2)]
  const a = at.int(first)
  const b = at.int(second)
  const signed = !at.has('U32')
  if (at.has('WIDE') || at.has('HI')) {
    const high = signed
      ? multiplyHighSigned
      : (x: number, y: number) => multiplyHigh(x >>> 0, y >>> 0)
    const negated = 'negated' in third && third.negated
    const [cLow, cHigh] = [at.raw(third, 0, 'negated'), at.raw(third, 1)]
    const wide = at.has('WIDE')
    const [putLow, putHigh] = wide ? [at.put(0), at.put(1)] : [() => {}, at.put(0)]
    const carry = at.has('X') ? at.predicate(at.operands.ins[0]) : () => 0
    const out = at.putPredicate(at.operands.outs[0])
    return (warp, active) => {
      const carryIn = carry(warp)
      let carries = 0
      eachLane((_, base, lane) => {
        const x = a(base, lane)
        const y = b(base, lane)
        let c0 = cLow(base, lane) >>> 0
        let c1 = cHigh(base, lane) >>> 0
        if (negated) {
          const complement = BigInt.asUintN(64, -((BigInt(c1) << 32n) | BigInt(c0)))
          c0 = Number(complement & 0xffffffffn)
          c1 = Number(complement >> 32n)
        }
        const low = (Math.imul(x, y) >>> 0) + c0 + ((carryIn >>> lane) & 1)
        const sum = (high(x, y) >>> 0) + c1 + (low >= 2 ** 32 ? 1 : 0)
        putLow(base, lane, low | 0)
        putHigh(base, lane, sum | 0)
        if (sum >= 2 ** 32) carries |= 1 << lane
      })(warp, active)
      out(warp, active, carries)
    }
  }
  const c = addend(at, third)
  const put = at.put()
  const carry = at.has('X') ? at.predicate(at.operands.ins[0]) : () => 0
  if (at.mnemonic === 'UIMAD' && at.operands.outs.length > 0)
    return at.unknown('a carry, which a GPU refuses')
  const out = at.putPredicate(at.operands.outs[0])
  return (warp, active) => {
    const carryIn = carry(warp)
    let carries = 0
    eachLane((_, base, lane) => {
      const sum =
        (Math.imul(a(base, lane), b(base, lane)) >>> 0) + c(base, lane) + ((carryIn >>> lane) & 1)
      put(base, lane, sum | 0)
      if (sum >= 2 ** 32) carries |= 1 << lane
    })(warp, active)
    out(warp, active, carries)
  }
}

/**
 * LEA: computes (a << shift) + b. With HI, LEA adds the high word of the shifted two-word value a:c
 * instead.
 */
function shiftAdd(at: Site): Step {
  const { sources } = at.operands
  const shiftOperand = sources.at(-1)!
  const shift = immediate(at, shiftOperand) & 31
  const high = at.has('HI')
  const first = at.source(0)
  const a = at.raw(first)
  const negated = 'negated' in first && first.negated
  // It is unknown how negating the first source affects a carry or a high word.
  if (!high && !at.has('X')) at.take(first, 'negated')
  const second = at.source(1)
  const added = addend(at, second)
  // With a carry input, a negated operand is complemented without adding 1.
  const complements = at.has('X') && 'negated' in second && second.negated
  const b: Get = complements ? (base, lane) => added(base, lane) - 1 : added
  const sign = high && at.has('SX32')
  const upper = high && !sign ? at.raw(at.source(2)) : () => 0
  const put = at.put()
  const out = at.putPredicate(at.operands.outs[0])
  const carry = at.has('X') ? at.predicate(at.operands.ins[0]) : () => 0
  return (warp, active) => {
    const carryIn = carry(warp)
    let carries = 0
    eachLane((_, base, lane) => {
      const low = a(base, lane)
      let part: number
      if (high) {
        part = leftHigh(low, sign ? low >> 31 : upper(base, lane), shift)
      } else part = low << shift
      const value = negated ? 2 ** 32 - (part >>> 0) : part >>> 0
      const sum = value + b(base, lane) + ((carryIn >>> lane) & 1)
      put(base, lane, sum | 0)
      if (sum >= 2 ** 32) carries |= 1 << lane
    })(warp, active)
    out(warp, active, carries)
  }
}

const comparisons: Record<string, (order: number) => boolean> = {
  LT: (order) => order < 0,
  EQ: (order) => order === 0,
  LE: (order) => order <= 0,
  GT: (order) => order > 0,
  NE: (order) => order !== 0,
  GE: (order) => order >= 0,
  F: () => false,
  T: () => true,
}

const joins: Record<string, (a: number, b: number) => number> = {
  AND: (a, b) => a & b,
  OR: (a, b) => a | b,
  XOR: (a, b) => a ^ b,
}

/** Finishes a comparison. Combines the result with the input predicate and writes both outputs. */
export function finishComparison(
  at: Site,
): (warp: Parameters<Step>[0], active: number, holds: number) => void {
  const join = joins[at.oneOf(Object.keys(joins)) ?? 'AND']!
  const [out, other] = at.operands.outs.map((operand) => at.putPredicate(operand))
  const condition = at.predicate(at.operands.ins[0])
  return (warp, active, holds) => {
    const incoming = condition(warp)
    other?.(warp, active, join(~holds, incoming) & active)
    out?.(warp, active, join(holds, incoming) & active)
  }
}

function compare(whole: Site): Step {
  const at = whole.compares()
  const name = at.oneOf(Object.keys(comparisons)) ?? at.unknown()
  const holds = comparisons[name]!
  const a = at.int(at.source(0))
  const b = at.int(at.source(1))
  const signed = !at.has('U32')
  const extended = at.has('EX')
  const low = extended ? at.predicate(at.operands.ins[1]) : () => 0
  const finish = finishComparison(at)
  return (warp, active) => {
    const lowHolds = low(warp)
    let mask = 0
    eachLane((_, base, lane) => {
      const x = signed ? a(base, lane) : a(base, lane) >>> 0
      const y = signed ? b(base, lane) : b(base, lane) >>> 0
      const order = x < y ? -1 : x > y ? 1 : 0
      // With EX, the instruction compares the high words of 64-bit numbers. If the high words are
      // equal, the low-word comparison decides.
      const yes =
        extended && order === 0 && !['EQ', 'NE', 'T', 'F'].includes(name)
          ? ((lowHolds >>> lane) & 1) === 1
          : extended && name === 'EQ'
            ? order === 0 && ((lowHolds >>> lane) & 1) === 1
            : extended && name === 'NE'
              ? order !== 0 || ((lowHolds >>> lane) & 1) === 1
              : holds(order)
      if (yes) mask |= 1 << lane
    })(warp, active)
    finish(warp, active, mask)
  }
}

/**
 * Returns a function that writes the minimum if the trailing predicate is true, and the maximum
 * otherwise.
 */
function extremum(at: Site, plus: boolean): Step {
  const a = at.int(at.source(0))
  const b = at.int(at.source(1))
  const c = plus ? at.int(at.source(2)) : () => 0
  const unsigned = at.has('U32')
  const smaller = at.predicate(at.operands.ins[0])
  const relu = !unsigned && at.has('RELU')
  const put = at.put()
  return (warp, active) => {
    const choose = smaller(warp)
    eachLane((_, base, lane) => {
      const x = plus ? (a(base, lane) + b(base, lane)) | 0 : a(base, lane)
      const y = plus ? c(base, lane) : b(base, lane)
      const less = unsigned ? x >>> 0 < y >>> 0 : x < y
      const value = less === (((choose >>> lane) & 1) === 1) ? x : y
      put(base, lane, relu ? Math.max(value, 0) : value)
    })(warp, active)
  }
}

function add(at: Site): Step {
  // GPUs ignore the bit that would negate VIADD's first operand. No compiler is known to set it.
  const a = at.raw(at.source(0))
  const b = at.int(at.source(1))
  const put = at.put()
  return eachLane((_, base, lane) => put(base, lane, (a(base, lane) + b(base, lane)) | 0))
}

export const integerSteps: Table = {
  IADD3: addThree,
  IMAD: multiplyAdd,
  LEA: shiftAdd,
  SHF: funnel,
  LOP3: logic,
  PLOP3: predicateLogic,
  ISETP: compare,
  IMNMX: (at) => extremum(at, false),
  VIMNMX: (at) => extremum(at, false),
  VIADDMNMX: (at) => extremum(at, true),
  VIADD: add,
  IABS: unary((a) => Math.abs(a) | 0),
  POPC: unary(popCount),
  BREV: unary(reverse),
  FLO: findLeading,
  PRMT: permute,
  BMSK: bitMask,
  SGXT: signExtend,
}
