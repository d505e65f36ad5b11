/** Helpers shared by all memory instructions: lane addresses, access checks and costs. */
import {
  type MemoryOperand,
  type Operand,
  zeroRegister,
  zeroUniformRegister,
} from '../sass/instruction'
import { globalAccess, lanesPerWavefront, sharedAccess, sharedPasses } from './accesses'
import { deviceHigh } from './device'
import { lanes, noCost, type Cost, type FindingKind, type Get, type Site } from './site'
import type { AccessKind, AccessSpace } from './trace'
import type { Warp } from './warp'
import { patternsOf, periodOf } from './access-patterns'

export type Space = AccessSpace

interface Width {
  bytes: number
  /** Whether 1-byte and 2-byte values are sign-extended. */
  signed: boolean
}

export function widthOf(at: Site): Width {
  const has = (word: string): boolean => at.has(word)
  if (has('U8') || has('S8')) return { bytes: 1, signed: has('S8') }
  if (has('U16') || has('S16') || has('F16')) return { bytes: 2, signed: has('S16') }
  if (has('128')) return { bytes: 16, signed: false }
  if (has('64') || has('U64') || has('S64') || has('F64')) return { bytes: 8, signed: false }
  return { bytes: 4, signed: false }
}

export function countCost(at: Site, cost: Cost): void {
  const { counts } = at.machine
  const { index } = at
  counts.wavefronts[index]! += cost.wavefronts
  counts.idealWavefronts[index]! += cost.idealWavefronts
  counts.tags[index]! += cost.tags
  counts.sectors[index]! += cost.sectors
  counts.idealSectors[index]! += cost.idealSectors
  counts.passes[index]! += cost.passes
  counts.conflicts[index]! += cost.conflicts
  counts.l1Sectors[index]! += cost.l1Sectors
}

/**
 * Returns a cost cache that counts an instruction's wavefronts in L1's data stage. L1 stores its
 * lines in the same banks as shared memory.
 */
const bankPatterns = (kind: 'load' | 'store' | 'atomic', bytes: number) =>
  patternsOf([periodOf('global')], (mask, addresses) => ({
    ...noCost,
    passes: sharedPasses(kind, bytes, mask, addresses).passes,
  }))

/**
 * Returns a function that reports an instruction's accesses to the launch's trace. If there is no
 * trace, the function does nothing.
 */
export function traceOf(
  at: Site,
  space: AccessSpace,
  kind: AccessKind,
  bytes: number,
  returns = true,
): (warp: Warp, mask: number, addresses: Int32Array, passes: number) => void {
  const { trace } = at.machine
  if (!trace) return () => {}
  const banks = bankPatterns(kind === 'store' || kind === 'atomic' ? kind : 'load', bytes)
  return (warp, mask, addresses, passes) => {
    const wavefronts = space === 'global' ? banks(mask, addresses).passes : passes
    trace.access(warp, at.index, space, kind, { mask, addresses, bytes, wavefronts, returns })
  }
}

const sharedPatterns = (kind: 'load' | 'store' | 'atomic', bytes: number) =>
  patternsOf([periodOf('shared')], (mask, addresses) => {
    const { wavefronts, ideal } = sharedAccess(kind, bytes, mask, addresses)
    const hardware = sharedPasses(kind, bytes, mask, addresses)
    return { ...noCost, wavefronts, idealWavefronts: ideal, ...hardware }
  })

const globalPatterns = (bytes: number) =>
  patternsOf([periodOf('global')], (mask, addresses) => {
    const { sectors, ideal, tags } = globalAccess(bytes, mask, addresses)
    return { ...noCost, sectors, idealSectors: ideal, tags, l1Sectors: sectors }
  })

const rowOf = (index: number | null, zero: number, first: number): number | null =>
  index === null || index === zero ? null : (first + index) * lanes

/**
 * Bit position of the block's rank in a shared-memory address. The rank is stored in the bits above
 * the offset.
 */
export const rankShift = 24
export const offsetMask = (1 << rankShift) - 1

/**
 * Returns a function that computes each lane's address. The address is an offset in its memory
 * space, or NaN if the address is invalid. With `generic-shared`, the address includes the block's
 * rank.
 */
export function addressOf(at: Site, operand: MemoryOperand, space: Space | 'generic-shared'): Get {
  const { words } = at.views
  const register = rowOf(operand.register, zeroRegister, 0)
  const uniform = rowOf(operand.uniform, zeroUniformRegister, at.machine.registers)
  const { offset, scale } = at.take(operand, 'register', 'uniform register', 'offset', 'scale')
  if (space !== 'global') {
    // In a cluster, a block can also use its rank to address its own shared memory.
    const mask = space === 'shared' && at.machine.clustered ? offsetMask : -1
    return (base, lane) => {
      let address = offset
      if (register !== null) address += words[base + register + lane]! * scale
      if (uniform !== null) address += words[base + uniform + lane]!
      return address & mask
    }
  }
  const parts = wholeAddress(at, operand)
  return (base, lane) => {
    parts(base, lane, whole)
    return whole.high === deviceHigh ? whole.low : NaN
  }
}

/**
 * Returns whether the address is in a register pair. The disassembler omits `.64` for addresses
 * without a descriptor: in compare-and-swap, in generic stores, and in every access on sm_75.
 */
const isPair = ({ width, descriptor, uniform }: MemoryOperand): boolean =>
  width === 64 || (descriptor === null && uniform === null)

const whole = { low: 0, high: 0 }

/**
 * Returns a function that computes both halves of a generic address. The function propagates the
 * carry between the halves.
 */
function wholeAddress(
  at: Site,
  operand: MemoryOperand,
): (base: number, lane: number, into: typeof whole) => void {
  const { words } = at.views
  const register = rowOf(operand.register, zeroRegister, 0)
  const uniform = rowOf(operand.uniform, zeroUniformRegister, at.machine.registers)
  const { offset, scale } = at.take(
    operand,
    ...(['register', 'wide register', 'scale', 'offset'] as const),
    ...(['uniform register', 'descriptor'] as const),
  )
  if (!at.has('E')) return at.unknown('an address of 32 bits')
  const pair = isPair(operand)
  return (base, lane, into) => {
    let low = offset
    let top = 0
    if (register !== null) {
      low += (words[base + register + lane]! >>> 0) * scale
      if (pair) top += words[base + register + lanes + lane]!
    }
    if (uniform !== null) {
      low += words[base + uniform + lane]! >>> 0
      top += words[base + uniform + lanes + lane]!
    }
    const carry = Math.floor(low / 2 ** 32)
    into.low = low - carry * 2 ** 32
    into.high = (top + carry) | 0
  }
}

/** Returns a function that computes the high half of a generic address. */
export function highOf(at: Site, operand: MemoryOperand): Get {
  const parts = wholeAddress(at, operand)
  return (base, lane) => {
    parts(base, lane, whole)
    return whole.high
  }
}

const outside: Record<Space, FindingKind> = {
  global: 'outside-global',
  shared: 'outside-shared',
  local: 'outside-local',
}

export const buffers = [new Int32Array(lanes), new Int32Array(lanes)] as const

/**
 * Returns a function that writes each lane's address to `into` and returns the mask of lanes with a
 * valid address. The function reports a finding for each out-of-bounds or misaligned address.
 */
export function checked(
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
      if (space === 'local' && machine.growsStack && offset < 0)
        at.halt('stack', `${machine.localBytes}`, { warp, lane })
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

/**
 * Returns the order in which lanes write. The order determines which lane wins if several lanes
 * write the same address. Shared memory processes one wavefront of lanes at a time, and the first
 * lane of a wavefront wins.
 */
export function storeOrder(space: Space, bytes: number): number[] {
  const all = Array.from({ length: lanes }, (_, lane) => lane)
  if (space !== 'shared') return all
  const together = lanesPerWavefront(bytes)
  const group = (lane: number): number => Math.floor(lane / together)
  return all.sort((a, b) => group(a) - group(b) || b - a)
}

export function watchAll(
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

/**
 * Returns the byte address of the first lane's offset 0, and the byte distance between consecutive
 * lanes.
 */
export function originOf(
  at: Site,
  space: Space,
): { origin: (warp: Warp) => number; stride: number } {
  const { localBytes } = at.machine
  if (space === 'global') return { origin: () => 0, stride: 0 }
  if (space === 'shared') return { origin: ({ block }) => block.shared, stride: 0 }
  return {
    origin: ({ block, number }) => block.local + number * lanes * localBytes,
    stride: localBytes,
  }
}

export const costsOf = (space: Space, kind: 'load' | 'store' | 'atomic', bytes: number) =>
  space === 'local'
    ? () => noCost
    : space === 'shared'
      ? sharedPatterns(kind, bytes)
      : globalPatterns(bytes)

/**
 * Returns the value operand of a store or an atomic, which is the first operand after the address.
 */
export function valueOperand(at: Site, place = 0): Operand {
  const operands = at.all('memory', 'register', 'uniform-register')
  const memoryAt = operands.findIndex((operand) => operand.kind === 'memory')
  return operands.slice(memoryAt + 1)[place] ?? at.unknown('it has no value')
}
