/** Copies from global to shared memory, and the rows of 8 x 8 matrices that a warp loads and stores. */
import { copyAccess, sharedMatrices } from './accesses'
import {
  addressOf,
  buffers,
  checked,
  countCost,
  noCost,
  valueOperand,
  watchAll,
  widthOf,
} from './memory-access'
import { patternsOf, periodOf } from './patterns'
import { eachLane, lanes, type Site } from './site'
import type { Step } from './warp'

/** Added to a global address, which is even, where zeros are written in place of what is there. */
const zeroMark = 1

/** LDGSTS. A predicate at the end that does not hold writes zeros in place of what is in global memory. */
export function copyToShared(at: Site): Step {
  const { bytes } = widthOf(at)
  const operands = at.instruction.operands.filter((operand) => operand.kind === 'memory')
  const from = operands.find((operand) => operand.descriptor !== null)
  const to = operands.find((operand) => operand.descriptor === null)
  if (!from || !to) return at.unknown()
  const address = addressOf(at, from, 'global')
  const reads = checked(at, 'global', bytes, false, address)
  const writes = checked(at, 'shared', bytes, true, addressOf(at, to, 'shared'))
  const bypass = at.has('BYPASS')
  const [source, target] = buffers
  const costs = patternsOf(
    [periodOf('shared', bypass), periodOf('global')],
    (mask, shared, marked) => {
      let zeros = 0
      for (let lane = 0; lane < lanes; lane++) zeros |= (marked![lane]! & zeroMark) << lane
      const global = marked!.map((place) => place & ~zeroMark)
      const cost = copyAccess({ bytes, bypass }, mask, zeros, shared, global)
      return {
        wavefronts: cost.shared.wavefronts,
        idealWavefronts: cost.shared.ideal,
        tags: cost.global.tags,
        sectors: cost.global.sectors,
        idealSectors: cost.global.ideal,
      }
    },
  )
  const condition = at.predicate(
    at.instruction.operands.find((operand) => operand.kind === 'predicate'),
  )
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
  const costs = patternsOf([periodOf('shared')], (_, addresses) => {
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
