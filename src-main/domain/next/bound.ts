/**
 * Computes an upper bound on the speedup when a cause is removed. Each unit needs the time of its work, and each warp needs the cycles of
 * its instructions and waits. The launch takes the longer of the two:
 *
 *   time left = max(unit work left / what the unit reaches, instructions left × (1 − waits removed), SMs left idle, an empty launch)
 *
 * relative to the current time. If the timing model predicted the kernel and simulated it without the cause, the time left is at least that one too. A bound is not a forecast: ./landing shows how much of it past steps reached.
 */
import { unitIds, type UnitId } from '../why/units'
import type { Removal } from '../session/prediction-words'
import type { Facts, WaitMetric } from './facts'

export interface Change {
  /** Remaining share of a unit's work, 0 to 1; 1 if absent. */
  work?: Partial<Record<UnitId, number>>
  /** Remaining share of a wait, 0 to 1; 1 if absent. */
  waits?: Partial<Record<WaitMetric, number>>
  /** Remaining share of the executed instructions; 1 if absent. */
  instructions?: number
  /** Factor by which the warps per SM increase; their waits overlap. 1 if absent. */
  warps?: number
  /** Number of launches saved. */
  launches?: number
  /** The kernel is replaced by one that takes this share of the time; the other fields are then ignored. */
  replaced?: number
  /** The one cause that is removed, if the timing model can simulate the kernel without it. */
  removes?: Removal
  /** Share of the SMs' time with a block after the change; unchanged if absent. */
  spread?: number
}

/**
 * The highest whole-launch utilization that each unit reached in a shipped H200 recording. The time of a unit's work can hardly drop below
 * its current share divided by this.
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

/** Returns the minimum remaining share of the current time, 0 to 1. */
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
 * Upper bound on the cost of a launch besides its kernel's work. On an H200 the kernel that the parallel sum saved (09_warp_shuffles to
 * 10_last_block) took 3.2 µs with its launch.
 */
const launchMs = 0.0035

/** No single change in a recorded kernel gained more than this. */
const least = 1 / 64

/** Returns the bound as a speedup, at least 1. */
export const boundOf = (facts: Facts, change: Change): number => 1 / timeLeft(facts, change)

export interface Fullness {
  unit: UnitId
  /** Share of the highest utilization in any recording, 0 to 1. */
  share: number
}

/** Returns the units by how close they are to their highest utilization, closest first. */
export const fullness = ({ busy }: Facts): Fullness[] =>
  unitIds
    .flatMap((unit): Fullness[] =>
      busy[unit] === undefined ? [] : [{ unit, share: Math.min(1, busy[unit] / reached[unit]) }],
    )
    .sort((a, b) => b.share - a.share)
