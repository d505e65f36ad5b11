/**
 * Estimates how SMs share the data that they read. The estimate uses the first instructions of all
 * blocks in the first two waves. The estimate assumes that the sharing stays constant, because the
 * blocks of a kernel traverse their data in the same order.
 */
import type { LaunchPlan } from './launch-plan'
import { smOfBlock } from './launch-plan'
import type { LaunchTrace } from './warp-trace'
import { eventKinds, eventWords, linesAt } from './warp-trace'

/**
 * Calls `each` with every line that a warp reads from L2, either through L1 or directly. `sectors`
 * is a mask of the line's accessed sectors.
 */
export function eachLineRead(
  events: Int32Array,
  each: (line: number, sectors: number) => void,
): void {
  for (let at = 0; at < events.length; at += eventWords(events, at)) {
    if (!reads.has(events[at + 2]!)) continue
    const first = linesAt(events, at)
    const end = first + 1 + 2 * events[first]!
    for (let place = first + 1; place < end; place += 2)
      each(events[place]!, events[place + 1]! & 15)
  }
}

const reads: ReadonlySet<number> = new Set([
  eventKinds.load,
  eventKinds.copy,
  eventKinds.copyPastL1,
  eventKinds.bulkLoad,
])

/** Sector masks, keyed by line. */
type Sectors = Map<number, number>

const count = (sectors: Sectors): number => {
  let sum = 0
  for (const mask of sectors.values())
    sum += (mask & 1) + ((mask >> 1) & 1) + ((mask >> 2) & 1) + (mask >> 3)
  return sum
}

const add = (to: Sectors, line: number, sectors: number): void => {
  to.set(line, (to.get(line) ?? 0) | sectors)
}

export interface FoundSharing {
  /** Average number of SMs that read a sector. */
  readonly readers: number
  /** Fraction of a wave's sectors that the previous wave also reads, from 0 to 1. */
  readonly again: number
}

export function sharingOf(
  plan: LaunchPlan,
  firstWave: LaunchTrace,
  secondWave: LaunchTrace | null,
): FoundSharing {
  const all: Sectors = new Map()
  const bySm = new Map<number, Sectors>()
  for (const { number, warps } of firstWave.blocks) {
    const sm = smOfBlock(plan, number)
    const own = bySm.get(sm) ?? new Map<number, number>()
    bySm.set(sm, own)
    for (const { events } of warps)
      eachLineRead(events, (line, sectors) => {
        add(own, line, sectors)
        add(all, line, sectors)
      })
  }
  const distinct = count(all)
  if (distinct === 0) return { readers: 1, again: 0 }
  let read = 0
  for (const own of bySm.values()) read += count(own)
  if (!secondWave) return { readers: read / distinct, again: 0 }
  const second: Sectors = new Map()
  for (const { warps } of secondWave.blocks)
    for (const { events } of warps)
      eachLineRead(events, (line, sectors) => add(second, line, sectors))
  const both: Sectors = new Map()
  for (const [line, sectors] of second) both.set(line, sectors & (all.get(line) ?? 0))
  return { readers: read / distinct, again: count(both) / Math.max(1, count(second)) }
}

/** Returns the size in bytes of the distinct sectors that `blocks` read. */
export function bytesRead({ blocks }: Pick<LaunchTrace, 'blocks'>): number {
  const all: Sectors = new Map()
  for (const { warps } of blocks)
    for (const { events } of warps) eachLineRead(events, (line, sectors) => add(all, line, sectors))
  return 32 * count(all)
}
