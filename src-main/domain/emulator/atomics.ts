/** Atomics: lane by lane, in the order of the lanes. */
import type { Operand } from '../sass/instruction'
import { bitsOf, brainBits, brainOf, doubleOf, floatOf, halfBits, halfOf, wordsOf } from './float'
import {
  addressOf,
  buffers,
  checked,
  costsOf,
  countCost,
  placeOf,
  valueOperand,
  watchAll,
  widthOf,
  type Space,
} from './memory-access'
import { eachLane, type Get, type Put, type Site } from './site'
import type { Step } from './warp'

type Combine = (old: number, value: number, other: number) => number

const packedAdd = (toNumber: (bits: number) => number, toBits: (value: number) => number) => {
  const add = (a: number, b: number): number =>
    toBits(Math.fround(toNumber(a & 0xffff) + toNumber(b & 0xffff)))
  return (a: number, b: number): number => (add(a >>> 16, b >>> 16) << 16) | add(a, b)
}

function combineOf(at: Site): Combine {
  const signed = at.has('S32')
  const float = at.has('F32')
  if (at.has('CAS')) return (old, compare, value) => (old === compare ? value : old)
  if (at.has('EXCH')) return (_, value) => value
  if (at.has('F16x2')) return packedAdd(halfOf, halfBits)
  if (at.has('BF16_V2') || at.has('BF16x2')) return packedAdd(brainOf, brainBits)
  if (at.has('ADD') || at.has('SUB'))
    return float
      ? (old, value) => bitsOf(Math.fround(floatOf(old) + floatOf(value)))
      : (old, value) => (old + value) | 0
  if (at.has('MIN'))
    return signed
      ? (old, value) => Math.min(old, value)
      : (old, value) => (old >>> 0 < value >>> 0 ? old : value)
  if (at.has('MAX'))
    return signed
      ? (old, value) => Math.max(old, value)
      : (old, value) => (old >>> 0 > value >>> 0 ? old : value)
  if (at.has('AND')) return (old, value) => old & value
  if (at.has('OR')) return (old, value) => old | value
  if (at.has('XOR')) return (old, value) => old ^ value
  if (at.has('INC')) return (old, value) => (old >>> 0 >= value >>> 0 ? 0 : old + 1)
  if (at.has('DEC')) return (old, value) => (old === 0 || old >>> 0 > value >>> 0 ? value : old - 1)
  return at.unknown()
}

/** Of 64 bits, through big integers or doubles. */
function combineWide(at: Site): (old: bigint, value: bigint, other: bigint) => bigint {
  const toDouble = (bits: bigint): number =>
    doubleOf(Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn))
  if (at.has('CAS')) return (old, compare, value) => (old === compare ? value : old)
  if (at.has('EXCH')) return (_, value) => value
  if (at.has('F64'))
    return (old, value) => {
      const [low, high] = wordsOf(toDouble(old) + toDouble(value))
      return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
    }
  if (at.has('ADD')) return (old, value) => BigInt.asUintN(64, old + value)
  if (at.has('AND')) return (old, value) => old & value
  if (at.has('OR')) return (old, value) => old | value
  if (at.has('XOR')) return (old, value) => old ^ value
  const key = at.has('S64') ? (value: bigint) => BigInt.asIntN(64, value) : (value: bigint) => value
  if (at.has('MIN')) return (old, value) => (key(old) < key(value) ? old : value)
  if (at.has('MAX')) return (old, value) => (key(old) > key(value) ? old : value)
  return at.unknown()
}

export function atomic(at: Site, space: Space, returns: boolean): Step {
  const { bytes } = widthOf(at)
  const wide = bytes === 8
  const { words } = at.views
  const counted = at.has('POPC')
  const compares = at.has('CAS')
  const operand = counted ? null : valueOperand(at, 0)
  const other = compares ? valueOperand(at, 1) : null
  const get = (from: Operand | null, part: number): Get =>
    from === null ? () => (counted && part === 0 ? 1 : 0) : at.raw(from, part)
  const [low, high] = [get(operand, 0), get(operand, 1)]
  const [otherLow, otherHigh] = [get(other, 0), get(other, 1)]
  const destination = at.operands.destination
  const puts: Put[] =
    returns && destination !== null && !at.destinationIsZero ? [at.put(0), at.put(1)] : []
  const check = checked(at, space, bytes, true, addressOf(at, at.memory(), space))
  const place = placeOf(at, space)
  // The lanes that increment one word are counted together, and cost what one does.
  const costs = costsOf(space, counted ? 'store' : 'atomic', bytes)
  const [addresses] = buffers
  const narrow: Combine = wide ? (old) => old : counted ? (old) => (old + 1) | 0 : combineOf(at)
  const double = wide ? combineWide(at) : null
  const join = (a: number, b: number): bigint => (BigInt(b >>> 0) << 32n) | BigInt(a >>> 0)
  return (warp, active) => {
    const good = check(warp, active, addresses)
    countCost(at, costs(good, addresses))
    watchAll(at, space, warp, good, addresses, bytes, true, true)
    eachLane((_, base, lane) => {
      const word = place(warp, lane, addresses[lane]!) >>> 2
      const old = words[word]!
      if (double === null) {
        words[word] = narrow(old, low(base, lane), otherLow(base, lane))
        puts[0]?.(base, lane, old)
        return
      }
      const oldHigh = words[word + 1]!
      const result = double(
        join(old, oldHigh),
        join(low(base, lane), high(base, lane)),
        join(otherLow(base, lane), otherHigh(base, lane)),
      )
      words[word] = Number(BigInt.asIntN(32, result))
      words[word + 1] = Number(BigInt.asIntN(32, result >> 32n))
      puts[0]?.(base, lane, old)
      puts[1]?.(base, lane, oldHigh)
    })(warp, good)
  }
}
