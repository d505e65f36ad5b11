/** Integer instructions that shift, combine, find, count, permute or extend bits. */
import { eachLane, type Get, type Site } from './site'
import type { Step } from './warp'
import type { Operand } from '../sass/instruction'

export const leftHigh = (low: number, high: number, by: number): number =>
  by === 0 ? high : by >= 32 ? low << (by - 32) : (high << by) | (low >>> (32 - by))

/**
 * SHF: shifts a two-word value and returns one word of the result. Operand a is the low word, and
 * operand c is the high word.
 */
export function funnel(at: Site): Step {
  const [low, by, high] = [0, 1, 2].map((place) => at.int(at.source(place))) as [Get, Get, Get]
  const put = at.put()
  const left = at.oneOf(['L', 'R']) === 'L'
  const takeHigh = at.has('HI')
  const type = at.oneOf(['S32', 'U32', 'S64', 'U64'])
  const signed = type === 'S32' || type === 'S64'
  const wide = type === 'S64' || type === 'U64'
  const most = at.has('W') ? (wide ? 63 : 31) : wide ? 63 : 32
  const wrap = at.has('W')
  return eachLane((_, base, lane) => {
    const lo = low(base, lane)
    const hi = high(base, lane)
    const amount = by(base, lane) >>> 0
    const n = wrap ? amount & most : Math.min(amount, wide ? 64 : 32)
    let result: number
    if (!wide) {
      // With 32-bit types, a funnel shift moves the two words by at most 32 bits.
      if (left) result = takeHigh ? leftHigh(lo, hi, n) : n >= 32 ? 0 : lo << n
      else if (takeHigh) result = n >= 32 ? (signed ? hi >> 31 : 0) : signed ? hi >> n : hi >>> n
      else result = n === 0 ? lo : n >= 32 ? hi : (lo >>> n) | (hi << (32 - n))
    } else {
      const value = (BigInt(hi) << 32n) | BigInt(lo >>> 0)
      const shifted = left
        ? value << BigInt(n)
        : (signed ? value : BigInt.asUintN(64, value)) >> BigInt(n)
      result = Number(BigInt.asIntN(32, takeHigh ? shifted >> 32n : shifted))
    }
    put(base, lane, result)
  })
}

function logicOf(a: number, b: number, c: number, table: number): number {
  let result = 0
  if (table & 1) result |= ~a & ~b & ~c
  if (table & 2) result |= ~a & ~b & c
  if (table & 4) result |= ~a & b & ~c
  if (table & 8) result |= ~a & b & c
  if (table & 16) result |= a & ~b & ~c
  if (table & 32) result |= a & ~b & c
  if (table & 64) result |= a & b & ~c
  if (table & 128) result |= a & b & c
  return result
}

export const immediate = (at: Site, operand: Operand): number =>
  operand.kind === 'immediate' ? at.take(operand, 'value').bits : at.unknown()

export function logic(at: Site): Step {
  const [a, b, c] = [0, 1, 2].map((place) => at.int(at.source(place))) as [Get, Get, Get]
  const table = immediate(at, at.source(3))
  const put = at.destinationIsZero ? () => {} : at.put()
  const out = at.putPredicate(at.operands.outs[0])
  const condition = at.predicate(at.operands.ins[0])
  return (warp, active) => {
    let nonzero = condition(warp)
    eachLane((_, base, lane) => {
      const value = logicOf(a(base, lane), b(base, lane), c(base, lane), table)
      put(base, lane, value)
      if (value !== 0) nonzero |= 1 << lane
    })(warp, active)
    out(warp, active, nonzero)
  }
}

/**
 * PLOP3: computes two predicates from three inputs with truth tables. The two outputs precede the
 * three inputs in one operand list.
 */
export function predicateLogic(at: Site): Step {
  const { predicates } = at
  const tables = at.all('immediate').map((operand) => immediate(at, operand))
  if (predicates.length !== 5 || tables.length !== 2) return at.unknown()
  const [out, other] = predicates.slice(0, 2).map((operand) => at.putPredicate(operand))
  const [a, b, c] = predicates.slice(2).map((operand) => at.predicate(operand))
  return (warp, active) => {
    const [x, y, z] = [a!(warp), b!(warp), c!(warp)]
    other!(warp, active, logicOf(x, y, z, tables[1]!) & active)
    out!(warp, active, logicOf(x, y, z, tables[0]!) & active)
  }
}

export const reverse = (value: number): number => {
  let result = 0
  for (let bit = 0; bit < 32; bit++) result |= ((value >>> bit) & 1) << (31 - bit)
  return result
}

/**
 * Returns the position of the highest set bit, or -1 if no bit is set. For a negative signed
 * number, returns the position of the highest clear bit.
 */
export function findLeading(at: Site): Step {
  const a = at.int(at.source(0))
  const put = at.put()
  const signed = !at.has('U32')
  const shift = at.has('SH')
  return eachLane((_, base, lane) => {
    const value = a(base, lane)
    const bits = signed && value < 0 ? ~value : value
    const place = 31 - Math.clz32(bits)
    put(base, lane, place < 0 ? -1 : shift ? 31 - place : place)
  })
}

export function permute(at: Site): Step {
  const a = at.int(at.source(0))
  const selector = at.int(at.source(1))
  const b = at.int(at.source(2))
  const put = at.put()
  return eachLane((_, base, lane) => {
    const [low, high, choose] = [a(base, lane), b(base, lane), selector(base, lane)]
    let result = 0
    for (let place = 0; place < 4; place++) {
      const from = (choose >>> (4 * place)) & 15
      const word = from & 4 ? high : low
      const byte = (word >>> (8 * (from & 3))) & 255
      result |= (from & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * place)
    }
    put(base, lane, result)
  })
}

export function bitMask(at: Site): Step {
  const a = at.int(at.source(0))
  const b = at.int(at.source(1))
  const put = at.put()
  const wrap = at.has('W')
  return eachLane((_, base, lane) => {
    const start = a(base, lane) >>> 0
    const width = b(base, lane) >>> 0
    const from = wrap ? start & 31 : start
    const count = wrap ? width & 31 : Math.min(width, 32)
    const ones = count >= 32 ? -1 : (1 << count) - 1
    put(base, lane, from >= 32 ? 0 : ones << from)
  })
}

export function signExtend(at: Site): Step {
  const a = at.int(at.source(0))
  const b = at.int(at.source(1))
  const put = at.put()
  const signed = !at.has('U32')
  return eachLane((_, base, lane) => {
    const width = Math.min(b(base, lane) >>> 0, 32)
    const shift = 32 - width
    const value = a(base, lane)
    put(
      base,
      lane,
      width === 0 ? 0 : signed ? (value << shift) >> shift : (value << shift) >>> shift,
    )
  })
}

export const popCount = (value: number): number => {
  let count = 0
  for (let rest = value; rest !== 0; rest &= rest - 1) count++
  return count
}
