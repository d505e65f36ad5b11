/** Loads and stores, and the table of all that the load-store unit does. */
import { zeroUniformRegister, type MemoryOperand, type Operand } from '../sass/instruction'
import {
  bitsOf,
  brainBitsOf,
  brainOf,
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
  storeOrder,
  valueOperand,
  watchAll,
  widthOf,
  type Space,
  highOf,
  rankShift,
} from './memory-access'
import { eachLane, eachLaneOf, type Get, type Put, type Site, lanes, noCost } from './site'
import type { Step } from './warp'
import { copyAccess, sectorsFilled, sharedMatrices, patternsOf, periodOf } from './accesses'
import { localHigh, sharedHigh } from './device'

// Atomics: lane by lane, in the order of the lanes.

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

/** Sums of floating-point numbers; a GPU has no other operation on them. */
function floatSum(at: Site, type: 'F32' | 'F16x2' | 'BF16x2'): Combine {
  if (!at.has('ADD')) return at.unknown(`an operation on ${type} that is not a sum`)
  at.expect('RN')
  if (type === 'F16x2') return packedAdd(halfOf, halfBits)
  if (type === 'BF16x2') return packedAdd(brainOf, brainBitsOf)
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

/** Of 64 bits, through big integers or doubles. */
function combineWide(at: Site): (old: bigint, value: bigint, other: bigint) => bigint {
  const toDouble = (bits: bigint): number =>
    doubleOf(Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn))
  if (at.has('F64')) {
    if (!at.has('ADD')) return at.unknown('an operation on F64 that is not a sum')
    at.expect('RN')
    // A NaN stays as it is: atomics do not make it quiet.
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

// Copies from global to shared memory, and the rows of 8 x 8 matrices that a warp loads and stores.

/** Added to a global address, which is even, where zeros are written in place of what is there. */
const zeroMark = 1

/** LDGSTS. A predicate at the end that does not hold writes zeros in place of what is in global memory. */
export function copyToShared(at: Site): Step {
  const { bytes } = widthOf(at)
  const operands = at.all('memory')
  const from = operands.find((operand) => operand.descriptor !== null)
  const to = operands.find((operand) => operand.descriptor === null)
  if (!from || !to) return at.unknown()
  const address = addressOf(at, from, 'global')
  const reads = checked(at, 'global', bytes, false, address)
  const writes = checked(at, 'shared', bytes, true, addressOf(at, to, 'shared'))
  const bypass = at.has('BYPASS')
  if (bytes < 4 || (bypass && bytes < 16)) return at.unknown('a copy that a GPU refuses')
  const [source, target] = buffers
  const costs = patternsOf(
    [periodOf('shared', bypass), periodOf('global')],
    (mask, shared, marked) => {
      let zeros = 0
      for (let lane = 0; lane < lanes; lane++) zeros |= (marked![lane]! & zeroMark) << lane
      const global = marked!.map((place) => place & ~zeroMark)
      const cost = copyAccess({ bytes, bypass }, mask, zeros, shared, global)
      return {
        ...noCost,
        wavefronts: cost.shared.wavefronts,
        idealWavefronts: cost.shared.ideal,
        tags: cost.global.tags,
        sectors: cost.global.sectors,
        idealSectors: cost.global.ideal,
        l1Sectors: bypass ? sectorsFilled(mask & ~zeros, shared) : cost.global.sectors,
      }
    },
  )
  const condition = at.predicate(at.all('predicate')[0])
  const { bytes: memory } = at.views
  return (warp, active) => {
    const wanted = active & condition(warp)
    const zeroed = writes(warp, active & ~wanted, target)
    const good = reads(warp, wanted, source) & writes(warp, wanted, target)
    if (zeroed !== 0)
      for (let lane = 0; lane < lanes; lane++)
        if ((zeroed >>> lane) & 1) source[lane] = address(warp.base, lane) | zeroMark
    const cost = costs(good | zeroed, target, source)
    countCost(at, cost)
    if (good === -1) at.machine.seen(at.index, [target, source], cost)
    watchAll(at, 'global', warp, good, source, bytes, false)
    watchAll(at, 'shared', warp, good | zeroed, target, bytes, true)
    eachLane((_, __, lane) => {
      const place = warp.block.shared + target[lane]!
      if ((zeroed >>> lane) & 1) memory.fill(0, place, place + bytes)
      else memory.copyWithin(place, source[lane]! >>> 0, (source[lane]! >>> 0) + bytes)
    })(warp, good | zeroed)
  }
}

/** LDSM and STSM: each eight lanes name the rows of an 8 x 8 matrix of halves; lane i holds two elements of row i / 4. */
export function matrices(at: Site, storing: boolean): Step {
  at.expect('16')
  const count = Number(at.oneOf(['1', '2', '4']) ?? 1)
  const transposed = at.has('MT88')
  if (!transposed && !at.has('M88')) return at.unknown()
  const operand = storing ? valueOperand(at) : null
  const registers = Array.from({ length: count }, (_, part) =>
    operand === null ? null : at.raw(operand, part),
  )
  const puts = storing ? [] : registers.map((_, part) => at.put(part))
  const address = addressOf(at, at.memory(), 'shared')
  const check = checked(at, 'shared', 16, storing, address)
  const { halves } = at.views
  const costs = patternsOf([periodOf('shared')], (_, addresses) => {
    const { wavefronts, ideal } = sharedMatrices(count, addresses)
    const hardware = { passes: wavefronts, conflicts: wavefronts - count }
    return { ...noCost, wavefronts, idealWavefronts: ideal, ...hardware }
  })
  const rows = new Int32Array(lanes)
  const used = count === 4 ? -1 : (1 << (8 * count)) - 1
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const good = check(warp, used, rows)
    if (good === 0) return
    countCost(at, costs(good, rows))
    watchAll(at, 'shared', warp, good, rows, 16, storing)
    const { base } = warp
    for (let part = 0; part < count; part++) {
      const element = (row: number, column: number): number =>
        ((warp.block.shared + rows[8 * part + row]!) >>> 1) + column
      for (let lane = 0; lane < lanes; lane++) {
        const row = lane >> 2
        const column = 2 * (lane & 3)
        const first = transposed ? element(column, row) : element(row, column)
        const second = transposed ? element(column + 1, row) : first + 1
        if (storing) {
          const value = registers[part]!(base, lane)
          halves[first] = value
          halves[second] = value >>> 16
        } else puts[part]!(base, lane, halves[first]! | (halves[second]! << 16))
      }
    }
  }
}

function load(at: Site, space: Space): Step {
  const { bytes, signed } = widthOf(at)
  const { words, bytes: memory, halves } = at.views
  const destination = at.operands.destination ?? at.unknown('it has no destination')
  const row = at.destinationIsZero ? null : at.row(destination)
  const parts = Math.max(1, bytes / 4)
  const check = checked(at, space, bytes, false, addressOf(at, at.memory(), space))
  const { origin, stride } = originOf(at, space)
  const costs = costsOf(space, 'load', bytes)
  const read = (from: number): number => {
    if (bytes === 1) return signed ? (memory[from]! << 24) >> 24 : memory[from]!
    if (bytes === 2) return signed ? (halves[from >>> 1]! << 16) >> 16 : halves[from >>> 1]!
    return words[from >>> 2]!
  }
  const [addresses] = buffers
  return (warp, active) => {
    const good = check(warp, active, addresses)
    const cost = costs(good, addresses)
    countCost(at, cost)
    if (good === -1) at.machine.seen(at.index, [addresses], cost)
    watchAll(at, space, warp, good, addresses, bytes, false)
    if (row === null) return
    const first = origin(warp)
    for (let rest = active; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest)
      const valid = (good >>> lane) & 1
      const from = (first + lane * stride + addresses[lane]!) >>> 0
      const to = warp.base + row + lane
      for (let part = 0; part < parts; part++)
        words[to + part * lanes] = valid ? read(from + 4 * part) : 0
    }
  }
}

function store(at: Site, space: Space): Step {
  const { bytes } = widthOf(at)
  const { words, bytes: memory, halves } = at.views
  const operand = valueOperand(at)
  const values = Array.from({ length: Math.max(1, bytes / 4) }, (_, part) => at.raw(operand, part))
  const check = checked(at, space, bytes, true, addressOf(at, at.memory(), space))
  const { origin, stride } = originOf(at, space)
  const costs = costsOf(space, 'store', bytes)
  const order = storeOrder(space, bytes)
  const [addresses] = buffers
  return (warp, active) => {
    const good = check(warp, active, addresses)
    const cost = costs(good, addresses)
    countCost(at, cost)
    if (good === -1) at.machine.seen(at.index, [addresses], cost)
    watchAll(at, space, warp, good, addresses, bytes, true)
    const first = origin(warp)
    eachLaneOf(order, (_, base, lane) => {
      const to = (first + lane * stride + addresses[lane]!) >>> 0
      if (bytes === 1) memory[to] = values[0]!(base, lane)
      else if (bytes === 2) halves[to >>> 1] = values[0]!(base, lane)
      else
        for (let part = 0; part < values.length; part++)
          words[(to >>> 2) + part] = values[part]!(base, lane)
    })(warp, good)
  }
}

/** An address that may be of shared or local memory: its high half says of which lanes it is. */
function generic(at: Site, make: (at: Site, space: Space) => Step): Step {
  const { descriptor, offset } = at.memory()
  if (descriptor === null && Math.abs(offset) >= 2 ** 22)
    return at.unknown(`the offset ${offset} of a generic address`)
  const global = make(at, 'global')
  const shared = make(at, 'shared')
  const local = make(at, 'local')
  const high = highOf(at, at.memory())
  const ranked = addressOf(at, at.memory(), 'generic-shared')
  return (warp, active) => {
    let [inShared, inLocal] = [0, 0]
    const { rank } = warp.block
    eachLane((_, base, lane) => {
      const top = high(base, lane)
      if (top === sharedHigh && at.machine.clustered && ranked(base, lane) >>> rankShift !== rank)
        at.unknown('shared memory of another block')
      if (top === sharedHigh) inShared |= 1 << lane
      else if (top === localHigh) inLocal |= 1 << lane
    })(warp, active)
    const inGlobal = active & ~(inShared | inLocal)
    const { counts } = at.machine
    if (inShared !== 0) counts.intoShared[at.index]!++
    if (inGlobal !== 0) counts.intoGlobal[at.index]!++
    if (inShared !== 0) shared(warp, inShared)
    if (inLocal !== 0) local(warp, inLocal)
    if (inGlobal !== 0) global(warp, inGlobal)
  }
}

export const memorySteps: Record<string, (at: Site) => Step> = {
  LDG: (at) => load(at, 'global'),
  LD: (at) => generic(at, load),
  LDS: (at) => load(at, 'shared'),
  LDL: (at) => load(at, 'local'),
  STG: (at) => store(at, 'global'),
  ST: (at) => generic(at, store),
  STS: (at) => store(at, 'shared'),
  STL: (at) => store(at, 'local'),
  ATOM: (at) => generic(at, (site, space) => atomic(site, space, true)),
  ATOMG: (at) => atomic(at, 'global', true),
  ATOMS: (at) => atomic(at, 'shared', true),
  RED: (at) => atomic(at, 'global', false),
  REDG: (at) => atomic(at, 'global', false),
  LDGSTS: copyToShared,
  LDSM: (at) => matrices(at, false),
  STSM: (at) => matrices(at, true),
}
