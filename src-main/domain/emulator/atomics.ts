/**
 * Creates the functions that execute atomic operations. An atomic operation executes lane by lane,
 * in lane order.
 */
import { zeroUniformRegister, type MemoryOperand, type Operand } from '../sass/instruction'
import {
  bitsOf,
  bfloatBitsOf,
  bfloatOf,
  doubleOf,
  floatOf,
  flush,
  halfBits,
  halfOf,
  isNaNDouble,
  sumError,
  wordsOf,
} from './float'
import {
  addressOf,
  buffers,
  checked,
  costsOf,
  countCost,
  originOf,
  traceOf,
  valueOperand,
  watchAll,
  widthOf,
  type Space,
} from './memory-access'
import { eachLane, type Get, type Put, type Site } from './site'
import type { Step } from './warp'

type Combine = (old: number, value: number, other: number) => number

const packedAdd = (
  toNumber: (bits: number) => number,
  toBits: (value: number, error: number) => number,
) => {
  const add = (a: number, b: number): number => {
    const [x, y] = [toNumber(a & 0xffff), toNumber(b & 0xffff)]
    return toBits(x + y, sumError(x, y, x + y))
  }
  return (a: number, b: number): number => (add(a >>> 16, b >>> 16) << 16) | add(a, b)
}

/**
 * Returns the function for a floating-point atomic addition. Addition is the only arithmetic atomic
 * operation on floats that the emulator supports.
 */
function floatSum(at: Site, type: 'F32' | 'F16x2' | 'BF16x2'): Combine {
  if (!at.has('ADD')) return at.unknown(`an operation on ${type} that is not a sum`)
  at.expect('RN')
  if (type === 'F16x2') return packedAdd(halfOf, halfBits)
  if (type === 'BF16x2') return packedAdd(bfloatOf, bfloatBitsOf)
  const ftz = at.has('FTZ') ? flush : (value: number) => value
  return (old, value) => bitsOf(ftz(Math.fround(ftz(floatOf(old)) + ftz(floatOf(value)))))
}

function combineOf(at: Site): Combine {
  const type = at.oneOf(['F32', 'F16x2', 'BF16x2'])
  if (type !== undefined) return floatSum(at, type)
  const signed = at.has('S32')
  const operation = at.oneOf(['CAS', 'EXCH', 'ADD', 'MIN', 'MAX', 'AND', 'OR', 'XOR', 'INC', 'DEC'])
  switch (operation) {
    case 'CAS':
      return (old, compare, value) => (old === compare ? value : old)
    case 'EXCH':
      return (_, value) => value
    case 'ADD':
      return (old, value) => (old + value) | 0
    case 'MIN':
      return signed
        ? (old, value) => Math.min(old, value)
        : (old, value) => (old >>> 0 < value >>> 0 ? old : value)
    case 'MAX':
      return signed
        ? (old, value) => Math.max(old, value)
        : (old, value) => (old >>> 0 > value >>> 0 ? old : value)
    case 'AND':
      return (old, value) => old & value
    case 'OR':
      return (old, value) => old | value
    case 'XOR':
      return (old, value) => old ^ value
    case 'INC':
    case 'DEC':
      if (signed) return at.unknown('a signed counter')
      return operation === 'INC'
        ? (old, value) => (old >>> 0 >= value >>> 0 ? 0 : old + 1)
        : (old, value) => (old === 0 || old >>> 0 > value >>> 0 ? value : old - 1)
    default:
      return at.unknown()
  }
}

/**
 * Returns the function for a 64-bit atomic operation. The function computes with BigInt or doubles.
 */
function combineWide(at: Site): (old: bigint, value: bigint, other: bigint) => bigint {
  const toDouble = (bits: bigint): number =>
    doubleOf(Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn))
  if (at.has('F64')) {
    if (!at.has('ADD')) return at.unknown('an operation on F64 that is not a sum')
    at.expect('RN')
    // Atomic operations return a signaling NaN unchanged instead of making it quiet.
    const isNaN = (bits: bigint): boolean =>
      isNaNDouble(Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn))
    return (old, value) => {
      if (isNaN(old)) return old
      if (isNaN(value)) return value
      const [low, high] = wordsOf(toDouble(old) + toDouble(value))
      return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
    }
  }
  const key = at.has('S64') ? (value: bigint) => BigInt.asIntN(64, value) : (value: bigint) => value
  switch (at.oneOf(['CAS', 'EXCH', 'ADD', 'AND', 'OR', 'XOR', 'MIN', 'MAX'])) {
    case 'CAS':
      return (old, compare, value) => (old === compare ? value : old)
    case 'EXCH':
      return (_, value) => value
    case 'ADD':
      return (old, value) => BigInt.asUintN(64, old + value)
    case 'AND':
      return (old, value) => old & value
    case 'OR':
      return (old, value) => old | value
    case 'XOR':
      return (old, value) => old ^ value
    case 'MIN':
      return (old, value) => (key(old) < key(value) ? old : value)
    case 'MAX':
      return (old, value) => (key(old) > key(value) ? old : value)
    default:
      return at.unknown()
  }
}

const isUniform = ({ uniform }: MemoryOperand): boolean =>
  uniform !== null && uniform !== zeroUniformRegister

export function atomic(at: Site, space: Space, returns: boolean): Step {
  const { bytes } = widthOf(at)
  const wide = bytes === 8
  const refused = 'an atomic that a GPU refuses'
  if (wide && at.mnemonic === 'ATOMS' && !at.has('CAS') && !at.has('EXCH'))
    return at.unknown(refused)
  if (at.has('S64') && !at.has('MIN') && !at.has('MAX')) return at.unknown(refused)
  if (at.mnemonic === 'ATOMS' && at.has('CAS') && isUniform(at.memory())) return at.unknown(refused)
  const { words } = at.views
  const counted = at.has('POPC')
  if (counted) at.expect('INC', '32')
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
  const { origin, stride } = originOf(at, space)
  // POPC.INC combines all lanes that increment the same word. The combined lanes cost as much as
  // one lane.
  const costs = costsOf(space, counted ? 'store' : 'atomic', bytes)
  const traced = traceOf(at, space, 'atomic', bytes, returns)
  const [addresses] = buffers
  const narrow: Combine = wide ? (old) => old : counted ? (old) => (old + 1) | 0 : combineOf(at)
  const double = wide ? combineWide(at) : null
  const join = (a: number, b: number): bigint => (BigInt(b >>> 0) << 32n) | BigInt(a >>> 0)
  return (warp, active) => {
    const good = check(warp, active, addresses)
    const cost = costs(good, addresses)
    countCost(at, cost)
    traced(warp, good, addresses, cost.passes)
    watchAll(at, space, warp, good, addresses, bytes, true, true)
    const first = origin(warp)
    eachLane((_, base, lane) => {
      const word = (first + lane * stride + addresses[lane]!) >>> 2
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
