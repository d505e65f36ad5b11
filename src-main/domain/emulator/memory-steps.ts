/**
 * Functions that execute loads and stores, and a table of all load-store unit instructions.
 */
import {
  addressOf,
  buffers,
  checked,
  costsOf,
  countCost,
  originOf,
  storeOrder,
  traceOf,
  valueOperand,
  watchAll,
  widthOf,
  type Space,
  highOf,
  rankShift,
} from './memory-access'
import { eachLane, eachLaneOf, type Site, lanes } from './site'
import type { Step } from './warp'
import { localHigh, sharedHigh } from './device'
import { atomic } from './atomics'
import { copyToShared } from './async-copies'
import { matrices } from './matrix-transfers'

function load(at: Site, space: Space): Step {
  const { bytes, signed } = widthOf(at)
  const { words, bytes: memory, halves } = at.views
  const destination = at.operands.destination ?? at.unknown('it has no destination')
  const row = at.destinationIsZero ? null : at.row(destination)
  const parts = Math.max(1, bytes / 4)
  const check = checked(at, space, bytes, false, addressOf(at, at.memory(), space))
  const { origin, stride } = originOf(at, space)
  const costs = costsOf(space, 'load', bytes)
  const traced = traceOf(at, space, 'load', bytes)
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
    traced(warp, good, addresses, cost.passes)
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
  const traced = traceOf(at, space, 'store', bytes)
  const order = storeOrder(space, bytes)
  const [addresses] = buffers
  return (warp, active) => {
    const good = check(warp, active, addresses)
    const cost = costs(good, addresses)
    countCost(at, cost)
    if (good === -1) at.machine.seen(at.index, [addresses], cost)
    traced(warp, good, addresses, cost.passes)
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

export const otherBlocksShared = 'shared memory of another block'

/**
 * Returns the function that executes an access to a generic address, which may point to global,
 * shared or local memory. The high 32 bits of each lane's address select the memory space.
 */
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
        at.unknown(otherBlocksShared)
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
