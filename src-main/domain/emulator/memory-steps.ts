/** Loads and stores, and the table of all that the load-store unit does. */
import { atomic } from './atomics'
import {
  addressOf,
  buffers,
  checked,
  costsOf,
  countCost,
  highOf,
  placeOf,
  valueOperand,
  watchAll,
  widthOf,
  type Space,
} from './memory-access'
import { copyToShared, matrices } from './shared-copies'
import { localHigh, sharedHigh } from './device'
import { eachLane, type Site } from './site'
import type { Step } from './warp'

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

/** An address that may be of shared or local memory: its high half says of which lanes it is. */
function generic(at: Site, make: (at: Site, space: Space) => Step): Step {
  const global = make(at, 'global')
  const shared = make(at, 'shared')
  const local = make(at, 'local')
  const high = highOf(at, at.memory())
  return (warp, active) => {
    let [inShared, inLocal] = [0, 0]
    eachLane((_, base, lane) => {
      const top = high(base, lane)
      if (top === sharedHigh) inShared |= 1 << lane
      else if (top === localHigh) inLocal |= 1 << lane
    })(warp, active)
    const inGlobal = active & ~(inShared | inLocal)
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
