/** Conversions between number formats, and rounding to integers. */
import type { Operand } from '../sass/instruction'
import {
  bitsOf,
  brainBits,
  bfloatBitsOf,
  flush,
  floatOf,
  halfBits,
  halfOf,
  isNaNDouble,
  wordsOf,
  type Rounding,
} from './float'
import { type Table } from './floating'
import { eachLane, type Get, type Site } from './site'
import type { Step } from './warp'
import { smallFloats, smallOf } from './small-floats'
import { roundingOf } from './rounding-modes'
import { double, doubleWords } from './fp64'

const roundTo: Record<string, (value: number) => number> = {
  TRUNC: Math.trunc,
  FLOOR: Math.floor,
  CEIL: Math.ceil,
  ROUND: (value) => {
    const down = Math.floor(value)
    const rest = value - down
    const near = rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down
    return near === 0 && value < 0 ? -0 : near
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

const halfSource = (at: Site, operand: Operand): Get => {
  const raw = at.raw(operand, 0, 'negated', 'absolute')
  const shift = at.suffix(operand, 'H1') ? 16 : 0
  const negated = 'negated' in operand && operand.negated
  const absolute = 'absolute' in operand && operand.absolute
  return (base, lane) => {
    const value = halfOf((raw(base, lane) >>> shift) & 0xffff)
    const size = absolute ? Math.abs(value) : value
    return negated ? -size : size
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
  const ftz = !from64 && at.has('FTZ') ? flush : (value: number) => value
  const wide = at.has('U64') || at.has('S64')
  // On a GPU, a conversion from float to an integer of at most 32 bits always has NTZ. Conversions
  // from double or to a 64-bit integer never have NTZ.
  const toZero = at.has('NTZ')
  if (wide ? toZero : from64 === toZero) return at.unknown('a conversion that a GPU refuses')
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
  const type = at.oneOf(Object.keys(ranges)) ?? 'S32'
  const [least, most] = ranges[type]!
  const put = at.put()
  if (from64 && !type.endsWith('32')) return at.unknown('a conversion of a double to 8 or 16 bits')
  const ofNaN = toZero ? 0 : -(2 ** 31)
  return eachLane((_, base, lane) => {
    const value = round(ftz(from(base, lane)))
    const whole = Number.isNaN(value) ? ofNaN : Math.min(Math.max(value, least), most)
    put(base, lane, whole | 0)
  })
}

/**
 * Rounds an integer to a float in the given direction. The integer may have more bits than fit in a
 * double.
 */
function wholeToFloat(value: bigint, mode: Rounding): number {
  const near = Math.fround(Number(value))
  if (BigInt(near) === value) return near
  if (mode === 'RN') {
    // A conversion through a double rounds twice. To correct the result, `settle` compares it with
    // the two adjacent floats.
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
  if (at.mnemonic === 'I2FP' && (mode === 'RM' || mode === 'RP'))
    return at.unknown('a conversion that a GPU refuses')
  const operand = at.source(0)
  const type = at.oneOf(['U8', 'S8', 'U16', 'S16', 'U32', 'S32', 'U64', 'S64']) ?? 'S32'
  const wide = type.endsWith('64')
  const unsigned = type.startsWith('U')
  const bits = type.endsWith('8') ? 8 : type.endsWith('16') ? 16 : 32
  const low = at.int(operand, 0)
  const high = wide ? at.int(operand, 1) : () => 0
  const byte =
    bits === 8
      ? ([0, 1, 2, 3].find((each) => at.suffix(operand, `B${each}`)) ?? 0)
      : bits === 16 && at.suffix(operand, 'H1')
        ? 2
        : 0
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
    if (mode !== 'RN') return at.unknown('a rounding to FP64')
    const [putLow, putHigh] = [at.put(0), at.put(1)]
    return eachLane((_, base, lane) => {
      const [a, b] = wordsOf(wide ? Number(whole(base, lane)) : value(base, lane))
      putLow(base, lane, a)
      putHigh(base, lane, b)
    })
  }
  const put = at.put()
  const half = at.has('F16')
  if (half && mode !== 'RN') return at.unknown('a rounding to FP16')
  if (half && bits === 8) return at.unknown('a conversion that a GPU refuses')
  at.has('F32')
  return eachLane((_, base, lane) => {
    const exact = wide ? whole(base, lane) : BigInt(value(base, lane))
    if (half) put(base, lane, halfBits(Number(exact)))
    else put(base, lane, bitsOf(wholeToFloat(exact, mode)))
  })
}

/** F2F: converts between FP64, FP32 and FP16. The modifiers list the target format first. */
function floatToFloat(at: Site): Step {
  const [to, from] = at.matching(/^B?F\d+$/)
  // F2F converts only from or to FP64. To convert between FP32 and FP16, GPUs use F2FP and HADD2,
  // which round to nearest.
  if ((to === 'F64') === (from === 'F64')) return at.unknown('a conversion that a GPU refuses')
  const operand = at.source(0)
  const wide = from === 'F64' ? doubleWords(at, operand) : null
  const read =
    wide !== null
      ? wide.value
      : from === 'F16'
        ? halfSource(at, operand)
        : from === 'F32'
          ? at.float(operand)
          : at.unknown()
  const ftz = from === 'F32' && at.has('FTZ') ? flush : (value: number) => value
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
        ? bfloatBitsOf
        : to === 'F32'
          ? (value) => bitsOf(Math.fround(value))
          : at.unknown()
  if (wide !== null && to !== 'BF16') {
    // A NaN becomes quiet and keeps its leading mantissa bits.
    const [first, kept] = to === 'F32' ? [0x7fc00000, 23] : [0x7e00, 10]
    const ofNaN = (low: number, high: number): number =>
      (high < 0 ? (to === 'F32' ? 0x80000000 : 0x8000) : 0) |
      first |
      (kept > 20
        ? ((high & 0xfffff) << (kept - 20)) | (low >>> (52 - kept))
        : (high & 0xfffff) >> (20 - kept))
    return eachLane((_, base, lane) => {
      const [low, high] = [wide.low(base, lane), wide.high(base, lane)]
      put(base, lane, isNaNDouble(low, high) ? ofNaN(low, high) : bits(wide.value(base, lane)))
    })
  }
  return eachLane((_, base, lane) => put(base, lane, bits(ftz(read(base, lane)))))
}

/**
 * F2FP.UNPACK_B: converts two packed FP8 numbers to two FP16 numbers, without rounding. The FP8
 * numbers are in one half of a register.
 */
function unpackEights(at: Site): Step {
  const operand = at.source(0)
  const type = at.has('E4M3') ? smallFloats.e4m3 : at.has('E5M2') ? smallFloats.e5m2 : at.unknown()
  at.has('F16')
  const shift = at.suffix(operand, 'H1') ? 16 : 0
  const table = Int32Array.from({ length: 256 }, (_, bits) => halfBits(smallOf(bits, type)))
  const raw = at.raw(operand)
  const put = at.put()
  return eachLane((_, base, lane) => {
    const bits = raw(base, lane) >>> shift
    put(base, lane, (table[(bits >>> 8) & 0xff]! << 16) | table[bits & 0xff]!)
  })
}

/**
 * F2FP: packs two floats as FP16 or BF16. The first float is stored in the upper half of the
 * register.
 */
function pack(at: Site): Step {
  if (at.has('UNPACK_B')) return unpackEights(at)
  const brain = at.has('BF16')
  if (!brain && !at.has('F16')) return at.unknown()
  at.expect('F32', 'PACK_AB')
  const to = brain ? brainBits : halfBits
  // GPUs ignore or reject the sign modifiers of F2FP's operands, and no compiler emits these
  // modifiers.
  const [a, b] = [at.raw(at.source(0)), at.raw(at.source(1))].map(
    (bits): Get =>
      (base, lane) =>
        floatOf(bits(base, lane)),
  ) as [Get, Get]
  const put = at.put()
  const relu = at.has('RELU') ? (value: number) => Math.max(value, 0) : (value: number) => value
  return eachLane((_, base, lane) =>
    put(base, lane, (to(relu(a(base, lane))) << 16) | to(relu(b(base, lane)))),
  )
}

function roundFloatToWhole(at: Site): Step {
  const mode = ['TRUNC', 'FLOOR', 'CEIL'].find((word) => at.has(word)) ?? 'ROUND'
  const a = at.float(at.source(0))
  const ftz = at.has('FTZ') ? flush : (value: number) => value
  const put = at.put()
  return eachLane((_, base, lane) => put(base, lane, bitsOf(roundTo[mode]!(ftz(a(base, lane))))))
}

export const conversionSteps: Table = {
  F2I: floatToInteger,
  I2F: integerToFloat,
  I2FP: integerToFloat,
  F2F: floatToFloat,
  F2FP: pack,
  FRND: roundFloatToWhole,
}
