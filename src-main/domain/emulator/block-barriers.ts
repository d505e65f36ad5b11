/** Block barriers (BAR), at which the warps of a block wait for one another. */
import { type Block, type Control } from './warp'
import { countLanes, lanes, scalar, type Site } from './site'
import { mergeSame } from './divergence'
import type { Meeting, Trace } from './trace'

const liveThreads = (block: Block): number =>
  block.warps.reduce((sum, warp) => sum + countLanes(warp.live), 0)

export function completeBarrier(block: Block, index: number, trace: Trace | null): void {
  const barrier = block.barriers.get(index)
  if (!barrier || barrier.arrived + barrier.signalled === 0) return
  if (barrier.arrived + barrier.signalled < (barrier.wanted ?? liveThreads(block))) return
  block.meetings++
  trace?.completes({ kind: 'barrier', block, number: index })
  block.watch?.barrier(barrier.waiting.map(({ warp }) => warp.number))
  for (const { warp, split } of barrier.waiting) {
    split.waits = null
    warp.barrierResult = barrier.value
  }
  block.barriers.delete(index)
  for (const { warp } of barrier.waiting) mergeSame(warp)
}

/**
 * Returns the function that executes BAR. The function counts arrivals and releases the waiting
 * warps once all warps have arrived.
 */
export function barrierControl(site: Site): Control {
  const numbers = site.all('immediate', 'register', 'uniform-register')
  const { predicates } = site
  const numberOf = scalar(site, numbers[0])
  const wantedBy = numbers[1] === undefined ? () => null : scalar(site, numbers[1])
  const arrives = site.has('ARV')
  const reduces = site.has('RED')
  if (!arrives && !reduces && !site.has('SYNC')) site.unknown()
  const combination = reduces ? site.oneOf(['POPC', 'AND', 'OR']) : undefined
  const combine =
    combination === 'AND'
      ? (value: number, holds: number, all: number) => (holds === all ? value : 0)
      : combination === 'OR'
        ? (value: number, holds: number) => (holds !== 0 ? 1 : value)
        : (value: number, holds: number) => value + countLanes(holds)
  const condition = site.predicate(predicates[0])
  const { trace } = site.machine
  return (warp, split, active) => {
    const { block } = warp
    if (active === 0) {
      split.at++
      return
    }
    if (active !== warp.live)
      site.machine.report({
        kind: 'divergent-barrier',
        at: site.index,
        write: false,
        bytes: 0,
        thread: warp.number * lanes + (31 - Math.clz32(active & -active)),
        block: 0,
        address: 0,
      })
    const number = numberOf(warp, active)
    const wanted = wantedBy(warp, active)
    const barrier = block.barriers.get(number) ?? {
      wanted: null,
      arrived: 0,
      signalled: 0,
      waiting: [],
      value: combination === 'AND' ? 1 : 0,
    }
    block.barriers.set(number, barrier)
    // Each arriving warp specifies the barrier's thread count. The thread count stays valid even if
    // the arriving warp exits before the other warps arrive.
    barrier.wanted = wanted ?? barrier.wanted
    const rest = split.mask & ~active
    split.at++
    const meeting: Meeting = { kind: 'barrier', block, number }
    trace?.arrives(warp, site.index, meeting, 'warp')
    if (!arrives) trace?.waits(warp, site.index, meeting, 'current')
    if (arrives) {
      barrier.signalled += countLanes(active)
      block.watch?.arrive(number, warp.number)
    } else {
      let waiting = split
      if (rest !== 0) {
        split.mask = rest
        waiting = { at: split.at, mask: active, waits: null }
        warp.splits.push(waiting)
      }
      waiting.waits = { kind: 'block', barrier: number }
      barrier.arrived += countLanes(active)
      barrier.waiting.push({ warp, split: waiting })
      if (reduces) barrier.value = combine(barrier.value, condition(warp) & active, active)
    }
    completeBarrier(block, number, trace)
  }
}
