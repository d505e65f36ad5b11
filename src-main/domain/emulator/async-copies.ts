/** Asynchronous copies from global to shared memory (LDGSTS). */
import { addressOf, buffers, checked, countCost, traceOf, watchAll, widthOf } from './memory-access'
import { eachLane, lanes, noCost, type Site } from './site'
import type { Step } from './warp'
import { copyAccess, sectorsFilled } from './accesses'
import { patternsOf, periodOf } from './access-patterns'

/**
 * Marks a lane whose copy writes zeros instead of data. The code adds the mark to the lane's global
 * address, which is otherwise always even.
 */
const zeroMark = 1

/**
 * Returns the function that executes LDGSTS. If the trailing predicate is false, the copy writes
 * zeros instead of global data.
 */
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
  const traced = traceOf(at, 'global', bypass ? 'copy-past-l1' : 'copy', bytes)
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
    traced(warp, good, source, cost.wavefronts)
    watchAll(at, 'global', warp, good, source, bytes, false)
    watchAll(at, 'shared', warp, good | zeroed, target, bytes, true)
    eachLane((_, __, lane) => {
      const place = warp.block.shared + target[lane]!
      if ((zeroed >>> lane) & 1) memory.fill(0, place, place + bytes)
      else memory.copyWithin(place, source[lane]! >>> 0, (source[lane]! >>> 0) + bytes)
    })(warp, good | zeroed)
  }
}
