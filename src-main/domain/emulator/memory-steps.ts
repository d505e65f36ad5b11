/** Loads, stores, atomics and copies: what they do to memory, what they cost, and which of them are wrong. */
import type { MemoryOperand, Operand } from '../sass/instruction'
import { zeroRegister, zeroUniformRegister } from '../sass/instruction'
import { zeroFilled, copyAccess, globalAccess, sharedAccess, sharedMatrices } from './accesses'
import { deviceHigh } from './device'
import { bitsOf, brainBits, brainOf, doubleOf, floatOf, halfBits, halfOf, wordsOf } from './float'
import { patternsOf, type Cost } from './patterns'
import { eachLane, lanes, type FindingKind, type Get, type Put, type Site } from './site'
import type { Step, Warp } from './warp'

type Space = 'global' | 'shared' | 'local'

interface Width {
  bytes: number
  /** Of 1 and 2 bytes: whether the sign is extended. */
  signed: boolean
}

function widthOf(at: Site): Width {
  const { modifiers } = at.instruction
  const has = (word: string): boolean => modifiers.includes(word)
  if (has('U8') || has('S8')) return { bytes: 1, signed: has('S8') }
  if (has('U16') || has('S16') || has('F16')) return { bytes: 2, signed: has('S16') }
  if (has('128')) return { bytes: 16, signed: false }
  if (has('64') || has('U64') || has('S64') || has('F64')) return { bytes: 8, signed: false }
  return { bytes: 4, signed: false }
}

const noCost: Cost = {
  wavefronts: 0,
  idealWavefronts: 0,
  tags: 0,
  sectors: 0,
  idealSectors: 0,
}

function countCost(at: Site, cost: Cost): void {
  const { counts } = at.machine
  const { index } = at
  counts.wavefronts[index]! += cost.wavefronts
  counts.idealWavefronts[index]! += cost.idealWavefronts
  counts.tags[index]! += cost.tags
  counts.sectors[index]! += cost.sectors
  counts.idealSectors[index]! += cost.idealSectors
}

const sharedPatterns = (kind: 'load' | 'store' | 'atomic', bytes: number) =>
  patternsOf(4, (mask, addresses) => {
    const { wavefronts, ideal } = sharedAccess(kind, bytes, mask, addresses)
    return { ...noCost, wavefronts, idealWavefronts: ideal }
  })

const globalPatterns = (bytes: number) =>
  patternsOf(128, (mask, addresses) => {
    const { sectors, ideal, tags } = globalAccess(bytes, mask, addresses)
    return { ...noCost, sectors, idealSectors: ideal, tags }
  })

/** Addresses of an operand by lane: the offset in the space, or NaN where it points to nothing. */
function addressOf(at: Site, operand: MemoryOperand, space: Space): Get {
  const { words } = at.views
  const rows = (index: number | null, zero: number, first: number): number | null =>
    index === null || index === zero ? null : (first + index) * lanes
  const register = rows(operand.register, zeroRegister, 0)
  const uniform = rows(operand.uniform, zeroUniformRegister, at.machine.registers)
  const { offset, scale } = operand
  if (space !== 'global') {
    return (base, lane) => {
      let address = offset
      if (register !== null) address += words[base + register + lane]! * scale
      if (uniform !== null) address += words[base + uniform + lane]!
      return address | 0
    }
  }
  const high = deviceHigh
  const pair = operand.width === 64
  const uniformPair = operand.uniformWidth === 64 || !pair
  return (base, lane) => {
    let low = offset
    let top = 0
    if (register !== null) {
      low += (words[base + register + lane]! >>> 0) * scale
      if (pair) top += words[base + register + lanes + lane]!
    }
    if (uniform !== null) {
      low += words[base + uniform + lane]! >>> 0
      if (uniformPair) top += words[base + uniform + lanes + lane]!
    }
    const carry = Math.floor(low / 2 ** 32)
    low -= carry * 2 ** 32
    return ((top + carry) | 0) === high ? low : NaN
  }
}

const outside: Record<Space, FindingKind> = {
  global: 'outside-global',
  shared: 'outside-shared',
  local: 'outside-local',
}

const buffers = [new Int32Array(lanes), new Int32Array(lanes)] as const

/**
 * Puts the address of each lane into `into` and takes out of the mask those that may not be accessed, each with a
 * finding: outside of its space, or not a multiple of its width.
 */
function checked(
  at: Site,
  space: Space,
  bytes: number,
  write: boolean,
  address: Get,
): (warp: Warp, active: number, into: Int32Array) => number {
  const { machine } = at
  const inside: (offset: number) => boolean =
    space === 'global'
      ? (offset) => machine.inBuffer(offset, bytes)
      : space === 'shared'
        ? (offset) => offset >= 0 && offset + bytes <= machine.sharedBytes
        : (offset) => offset >= 0 && offset + bytes <= machine.localBytes
  return (warp, active, into) => {
    const { base } = warp
    let good = active
    for (let rest = active; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest)
      const offset = address(base, lane)
      into[lane] = offset
      const aligned = offset % bytes === 0
      if (aligned && inside(offset)) continue
      good &= ~(1 << lane)
      machine.report({
        kind: Number.isNaN(offset) || aligned ? outside[space] : 'misaligned',
        at: at.index,
        write,
        bytes,
        thread: warp.number * lanes + lane,
        block: 0,
        address: offset,
      })
    }
    return good
  }
}

function watchAll(
  at: Site,
  space: Space,
  warp: Warp,
  active: number,
  addresses: Int32Array,
  bytes: number,
  write: boolean,
  atomic = false,
): void {
  const { watch } = warp.block
  if (watch === null || space === 'local') return
  for (let rest = active; rest !== 0; rest &= rest - 1) {
    const lane = 31 - Math.clz32(rest & -rest)
    if (space === 'global') watch.global(at.index, warp, lane, addresses[lane]! >>> 0, bytes, write)
    else watch.shared(at.index, warp, lane, addresses[lane]!, bytes, write, atomic)
  }
}

/** Byte of the memory where an offset of a space lies, for a lane. */
function placeOf(at: Site, space: Space): (warp: Warp, lane: number, offset: number) => number {
  const { machine } = at
  if (space === 'global') return (_, __, offset) => offset >>> 0
  if (space === 'shared') return (warp, _, offset) => warp.block.shared + offset
  return (warp, lane, offset) =>
    warp.block.local + (warp.number * lanes + lane) * machine.localBytes + offset
}

const costsOf = (space: Space, kind: 'load' | 'store' | 'atomic', bytes: number) =>
  space === 'local'
    ? () => noCost
    : space === 'shared'
      ? sharedPatterns(kind, bytes)
      : globalPatterns(bytes)

function load(at: Site, space: Space): Step {
  const { bytes, signed } = widthOf(at)
  const { words, bytes: memory, halves } = at.views
  const puts = Array.from({ length: Math.max(1, bytes / 4) }, (_, part) => at.put(part))
  const check = checked(at, space, bytes, false, addressOf(at, at.memory(), space))
  const place = placeOf(at, space)
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
    const { base } = warp
    for (let rest = active; rest !== 0; rest &= rest - 1) {
      const lane = 31 - Math.clz32(rest & -rest)
      const valid = (good >>> lane) & 1
      const from = valid ? place(warp, lane, addresses[lane]!) : 0
      for (let part = 0; part < puts.length; part++)
        puts[part]!(base, lane, valid ? read(from + 4 * part) : 0)
    }
  }
}

/** What a store or an atomic takes its value from: the register behind the address. */
function valueOperand(at: Site, place = 0): Operand {
  const { operands } = at.instruction
  const memoryAt = operands.findIndex((operand) => operand.kind === 'memory')
  const values = operands
    .slice(memoryAt + 1)
    .filter((operand) => operand.kind === 'register' || operand.kind === 'uniform-register')
  return values[place] ?? at.unknown('it has no value')
}

function store(at: Site, space: Space): Step {
  const { bytes } = widthOf(at)
  const { words, bytes: memory, halves } = at.views
  const operand = valueOperand(at)
  const values = Array.from({ length: Math.max(1, bytes / 4) }, (_, part) => at.raw(operand, part))
  const check = checked(at, space, bytes, true, addressOf(at, at.memory(), space))
  const place = placeOf(at, space)
  const costs = costsOf(space, 'store', bytes)
  const [addresses] = buffers
  return (warp, active) => {
    const good = check(warp, active, addresses)
    const cost = costs(good, addresses)
    countCost(at, cost)
    if (good === -1) at.machine.seen(at.index, [addresses], cost)
    watchAll(at, space, warp, good, addresses, bytes, true)
    eachLane((_, base, lane) => {
      const to = place(warp, lane, addresses[lane]!)
      if (bytes === 1) memory[to] = values[0]!(base, lane)
      else if (bytes === 2) halves[to >>> 1] = values[0]!(base, lane)
      else
        for (let part = 0; part < values.length; part++)
          words[(to >>> 2) + part] = values[part]!(base, lane)
    })(warp, good)
  }
}

// ---- Atomics ---------------------------------------------------------------------------------------

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

function atomic(at: Site, space: Space, returns: boolean): Step {
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
  const costs = costsOf(space, 'atomic', bytes)
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

// ---- Copies and matrices ---------------------------------------------------------------------------

/** LDGSTS. A predicate at the end that does not hold writes zeros in place of what is in global memory. */
function copyToShared(at: Site): Step {
  const { bytes } = widthOf(at)
  const operands = at.instruction.operands.filter((operand) => operand.kind === 'memory')
  const from = operands.find((operand) => operand.descriptor !== null)
  const to = operands.find((operand) => operand.descriptor === null)
  if (!from || !to) return at.unknown()
  const reads = checked(at, 'global', bytes, false, addressOf(at, from, 'global'))
  const writes = checked(at, 'shared', bytes, true, addressOf(at, to, 'shared'))
  const bypass = at.has('BYPASS')
  const [source, target] = buffers
  const costs = patternsOf(128, (mask, shared, global) => {
    const cost = copyAccess(bytes, bypass, mask, shared, global!)
    return {
      wavefronts: cost.shared.wavefronts,
      idealWavefronts: cost.shared.ideal,
      tags: cost.global.tags,
      sectors: cost.global.sectors,
      idealSectors: cost.global.ideal,
    }
  })
  const condition = at.predicate(
    at.instruction.operands.find((operand) => operand.kind === 'predicate'),
  )
  const { bytes: memory } = at.views
  return (warp, active) => {
    const wanted = active & condition(warp)
    const zeroed = writes(warp, active & ~wanted, target)
    const good = reads(warp, wanted, source) & writes(warp, wanted, target)
    if (zeroed !== 0)
      for (let lane = 0; lane < lanes; lane++) if ((zeroed >>> lane) & 1) source[lane] = zeroFilled
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
function matrices(at: Site, storing: boolean): Step {
  const count = Number(at.instruction.modifiers.find((word) => /^[124]$/.test(word)) ?? 1)
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
  const costs = patternsOf(4, (_, addresses) => {
    const { wavefronts, ideal } = sharedMatrices(count, addresses)
    return { ...noCost, wavefronts, idealWavefronts: ideal }
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
        const [first, second] = transposed
          ? [element(column, row), element(column + 1, row)]
          : [element(row, column), element(row, column + 1)]
        if (storing) {
          const value = registers[part]!(base, lane)
          halves[first] = value
          halves[second] = value >>> 16
        } else puts[part]!(base, lane, halves[first]! | (halves[second]! << 16))
      }
    }
  }
}

export const memorySteps: Record<string, (at: Site) => Step> = {
  LDG: (at) => load(at, 'global'),
  LD: (at) => load(at, 'global'),
  LDS: (at) => load(at, 'shared'),
  LDL: (at) => load(at, 'local'),
  STG: (at) => store(at, 'global'),
  ST: (at) => store(at, 'global'),
  STS: (at) => store(at, 'shared'),
  STL: (at) => store(at, 'local'),
  ATOM: (at) => atomic(at, 'global', true),
  ATOMG: (at) => atomic(at, 'global', true),
  ATOMS: (at) => atomic(at, 'shared', true),
  RED: (at) => atomic(at, 'global', false),
  REDG: (at) => atomic(at, 'global', false),
  LDGSTS: copyToShared,
  LDSM: (at) => matrices(at, false),
  STSM: (at) => matrices(at, true),
}
