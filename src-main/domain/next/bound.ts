/**
 * Computes an upper bound on the speedup from removing a cause. Each unit needs time for its work.
 * Each warp needs cycles for its instructions and waits. The launch takes the longer time:
 *
 *   time left = max(unit work left / highest utilization, instructions left × (1 − waits removed),
 *                   SMs left idle, an empty launch)
 *
 * The result is relative to the current time. If the timing model simulated the kernel without the
 * cause, the simulated time is another lower limit. A bound is not a forecast. ./landing contains
 * the fraction of the bound that past steps reached.
 */
import { unitIds, type UnitId } from '../why/units'
import type { Removal } from '../session/prediction-words'
import type { Facts, WaitMetric } from './facts'

export interface Change {
  /** Remaining fraction of a unit's work, 0 to 1. The default is 1. */
  work?: Partial<Record<UnitId, number>>
  /** Remaining fraction of a wait, 0 to 1. The default is 1. */
  waits?: Partial<Record<WaitMetric, number>>
  /** Remaining fraction of the executed instructions. The default is 1. */
  instructions?: number
  /**
   * Factor by which the number of warps per SM increases. More warps overlap more waits. The
   * default is 1.
   */
  warps?: number
  /** Number of launches saved. */
  launches?: number
  /**
   * Replaces the kernel with one that takes this fraction of the time. The other fields are then
   * ignored.
   */
  replaced?: number
  /** The single cause that is removed, if the timing model can simulate the kernel without it. */
  removes?: Removal
  /** Fraction of the SMs' time with a resident block after the change. The default is no change. */
  spread?: number
}

/**
 * The highest whole-launch utilization of each unit in any built-in H200 recording. A unit can
 * hardly finish faster than its current utilization divided by this value.
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

/** Returns the minimum remaining fraction of the current time, 0 to 1. */
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
  const modelled = (change.removes && facts.without[change.removes]) ?? 0
  const saved = Math.min(0.9, ((change.launches ?? 0) * launchMs) / facts.time.ms)
  return Math.min(
    1,
    Math.max(...floors, cycles, least, modelled, facts.emptyMs / facts.time.ms) * (1 - saved),
  )
}

/**
 * Upper bound on the overhead of one launch. On an H200, the parallel sum saved one kernel between
 * 09_warp_shuffles and 10_last_block. That kernel took 3.2 µs, including its launch.
 */
const launchMs = 0.0035

/**
 * Lower limit for the remaining time. No single change in the recordings gained more than a factor
 * of 64.
 */
const least = 1 / 64

/** Returns the maximum speedup, at least 1. */
export const boundOf = (facts: Facts, change: Change): number => 1 / timeLeft(facts, change)

export interface Fullness {
  unit: UnitId
  /** Fraction of the unit's highest recorded utilization, 0 to 1. */
  share: number
}

/**
 * Returns the units sorted by how close they are to their highest recorded utilization, closest
 * first.
 */
export const fullness = ({ busy }: Facts): Fullness[] =>
  unitIds
    .flatMap((unit): Fullness[] =>
      busy[unit] === undefined ? [] : [{ unit, share: Math.min(1, busy[unit] / reached[unit]) }],
    )
    .sort((a, b) => b.share - a.share)
