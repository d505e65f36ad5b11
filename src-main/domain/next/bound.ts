/**
 * Computes an upper bound on the speedup from removing a cause. Each unit needs time for its work,
 * and each warp needs cycles for its instructions and stalls. The launch takes the longest of these
 * times:
 *
 *   time left = max(unit work left / highest utilization, instructions left × (1 − waits removed),
 *                   remaining idle time of SMs, time of an empty launch)
 *
 * The bound is relative to the current time. If the timing model simulated the kernel with the
 * cause removed, the simulated time is also a lower limit for the time left. A bound is not a
 * forecast. ./landing computes forecasts from the fraction of the bound that past steps reached.
 */
import { unitIds, type UnitId } from '../why/units'
import type { Removal } from '../session/prediction-words'
import type { Facts, WaitMetric } from './facts'

export interface Change {
  /** Remaining fraction of each unit's work, 0 to 1; 1 by default. */
  work?: Partial<Record<UnitId, number>>
  /** Remaining fraction of each stall reason, 0 to 1; 1 by default. */
  waits?: Partial<Record<WaitMetric, number>>
  /** Remaining fraction of the executed instructions; 1 by default. */
  instructions?: number
  /**
   * Factor by which the number of warps per SM increases; 1 by default. More warps hide more
   * stalls.
   */
  warps?: number
  /** Number of launches saved. */
  launches?: number
  /**
   * Time of a replacement kernel as a fraction of the current time. If this field is set, the other
   * fields are ignored.
   */
  replaced?: number
  /** The single cause that is removed, if the timing model can simulate the kernel without it. */
  removes?: Removal
  /**
   * Fraction of time during which an SM has a resident block after the change; unchanged by
   * default.
   */
  spread?: number
}

/**
 * The highest whole-launch utilization of each unit in any built-in H200 recording. If a unit's
 * work stays the same, the remaining fraction of the time is at least the unit's current
 * utilization divided by its highest utilization.
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

/** Returns the highest recorded utilization of a unit, 0 to 1. */
export const recordOf = (unit: UnitId): number => reached[unit]

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
 * Upper bound on the overhead of one launch. On an H200, rung 10_last_block of the parallel sum
 * launches one kernel fewer than 09_warp_shuffles. The omitted kernel took 3.2 µs, including its
 * launch.
 */
const launchMs = 0.0035

/**
 * Lower limit for the remaining fraction of the time. No single change in the recordings gave a
 * speedup above 64×.
 */
const least = 1 / 64

/** Returns the maximum speedup, at least 1. */
export const boundOf = (facts: Facts, change: Change): number => 1 / timeLeft(facts, change)

export interface Fullness {
  unit: UnitId
  /** Utilization as a fraction of the unit's highest recorded utilization, 0 to 1. */
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
