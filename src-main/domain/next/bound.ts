/**
 * How much faster a rung can get at most when a cause is removed. Two clocks run side by side: each unit needs the
 * time of its work, and a warp needs the cycles of its instructions and its waits. The launch takes the longer one:
 *
 *   time left = max(unit work left / what the unit reaches, instructions left × (1 − waits removed), SMs left idle)
 *
 * relative to the time now. A bound is no forecast: ./landing says where in it past steps landed.
 */
import { unitIds, type UnitId } from '../why/units'
import type { Facts, WaitMetric } from './facts'

export interface Change {
  /** Share of a unit's work that is left, 0 to 1; 1 where absent. */
  work?: Partial<Record<UnitId, number>>
  /** Share of a wait that is left, 0 to 1; 1 where absent. */
  waits?: Partial<Record<WaitMetric, number>>
  /** Share of the executed instructions that is left; 1 if absent. */
  instructions?: number
  /** By how much more warps an SM holds: they wait at the same time. 1 if absent. */
  warps?: number
  /** Launches that are saved. */
  launches?: number
  /** The kernel is replaced by one that is known to take this share of the time; nothing else counts then. */
  replaced?: number
  /** Share of the SMs' time with a block, afterwards; as it is if absent. */
  spread?: number
}

/**
 * The highest utilization that a unit reached in a shipped recording on an H200, of the whole launch; the time of its
 * work can hardly fall below its share now over this.
 */
const reached: Readonly<Record<UnitId, number>> = {
  fma: 0.84,
  issue: 0.92,
  tensor: 0.96,
  l1Data: 0.985,
  lsu: 0.8,
  l2: 0.93,
  dram: 0.92,
}

/** Of the time now, what is left at least, 0 to 1. */
export function timeLeft(facts: Facts, change: Change): number {
  if (change.replaced !== undefined) return Math.min(1, change.replaced)
  const instructions = change.instructions ?? 1
  const spread = Math.max(change.spread ?? facts.spread, facts.spread)
  const narrower = facts.spread / spread
  const floors = unitIds.map((id) => {
    const own = facts.busy[id] ?? 0
    const left = change.work?.[id] ?? (id === 'issue' ? instructions : 1)
    return (own * left) / reached[id]
  })
  const removed = facts.waits
    ? Object.entries(change.waits ?? {}).reduce(
        (sum, [id, left]) => sum + facts.waits![id as WaitMetric] * (1 - left),
        0,
      )
    : 0
  const cycles = (instructions * (1 - removed) * narrower) / (change.warps ?? 1)
  const saved = Math.min(0.9, ((change.launches ?? 0) * launchMs) / facts.time.ms)
  return Math.min(1, Math.max(...floors, cycles, least) * (1 - saved))
}

/**
 * What a launch costs at most besides the work of its kernel: the kernel that the parallel sum saved on an H200
 * (09_warp_shuffles to 10_last_block) took 3.2 µs with its launch.
 */
const launchMs = 0.0035

/** No single change of a kernel made a recorded one this much faster. */
const least = 1 / 64

/** The bound as a factor of the speed, at least 1. */
export const boundOf = (facts: Facts, change: Change): number => 1 / timeLeft(facts, change)

export interface Fullness {
  unit: UnitId
  /** Of what the unit reached in any recording, 0 to 1. */
  share: number
}

/** The units by how near they are to what they can reach, the nearest first. */
export const fullness = ({ busy }: Facts): Fullness[] =>
  unitIds
    .flatMap((unit): Fullness[] =>
      busy[unit] === undefined ? [] : [{ unit, share: Math.min(1, busy[unit] / reached[unit]) }],
    )
    .sort((a, b) => b.share - a.share)
