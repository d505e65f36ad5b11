/** One side of a comparison: its time, counters, clock and grid. */
import { blocksOf, threadsOf, type LaunchLike } from '../analysis/derived-metrics'
import { clockOf } from '../analysis/time-change'
import type { DeepProfile } from '../session/deep'
import type { RungResult, Session } from '../session/session'
import { gpuOfTarget } from '../targets/targets'
import { schedulersPerSm } from '../gpu/sm-limits'

export interface Side {
  session: Session
  rung: RungResult
  /** Absent or null below the deep level. */
  deep?: DeepProfile | null | undefined
}

/** Two kernels of one run of a program do different work, so neither is faster than the other. */
export const areKernelsOfOneProgram = (a: Side, b: Side): boolean =>
  a.session === b.session && Boolean(a.session.program) && a.rung !== b.rung

export const valueOf = ({ rung }: Side, id: string): number | null =>
  rung.metrics[id]?.value ?? null

/** Values that a logarithm can be taken of. */
export const positive = (side: Side, id: string): number | null => {
  const value = valueOf(side, id)
  return value !== null && value > 0 ? value : null
}

/** The profiler's own time in milliseconds, of the launch that was counted or else of all in the rung. */
const profiledMs = ({ rung }: Side): number | null => {
  const ns = rung.ncuMetrics?.['gpu__time_duration.sum']?.value
  const ms = typeof ns === 'number' ? ns / 1e6 : (rung.profiledTime?.medianMs ?? 0)
  return ms > 0 ? ms : null
}

export interface Times {
  a: number
  b: number
  /** The sum of both spreads. */
  noise: number
}

/** A single launch under the profiler, at clocks that nobody watched. */
const profiledNoise = 0.02

/** Both times from the same clock or the same model, or null. */
export function timesOf(a: Side, b: Side): Times | null {
  const [modelA, modelB] = [a.rung.predicted, b.rung.predicted]
  // Two answers of one model: its error is no noise between them.
  if (modelA && modelB) return { a: modelA.ms, b: modelB.ms, noise: 0 }
  if (modelA || modelB) return null
  const [left, right] = [a.rung.timing, b.rung.timing]
  if (left && right)
    return { a: left.medianMs, b: right.medianMs, noise: left.spread + right.spread }
  if (left || right) return null
  const [ownA, ownB] = [profiledMs(a), profiledMs(b)]
  return ownA === null || ownB === null ? null : { a: ownA, b: ownB, noise: profiledNoise }
}

export const clock = ({ rung }: Side): number | null => (rung.timing ? clockOf(rung.timing) : null)

export const smCount = ({ session }: Side): number | null =>
  (session.device ?? gpuOfTarget(session.target))?.smCount ?? null

/**
 * Cycles in which an SM was active, on average over the SMs: the schedulers issue at most one instruction each
 * per cycle, so that the instructions and the share of busy slots fix their number.
 */
export function activeCycles(side: Side): number | null {
  const [issued, busy, sms] = [
    positive(side, 'instructions'),
    positive(side, 'issueSlotsBusy'),
    smCount(side),
  ]
  return issued === null || busy === null || sms === null
    ? null
    : issued / (schedulersPerSm * sms * (busy / 100))
}

const launchesOf = ({ rung }: Side): LaunchLike[] => rung.profile?.kernels ?? rung.launches ?? []

/** Kernels that a launch of the rung runs; 0 if unknown. */
export const kernelCount = (side: Side): number => launchesOf(side).length

interface Grid {
  blocks: number
  /** Share of the SMs' time in which they have a block, if all blocks take equally long and spread evenly; 0 to 1. */
  share: number
}

/** How a rung's longest kernel fills the SMs; null where it is unknown which kernel that is. */
export function gridOf(side: Side): Grid | null {
  const sms = smCount(side)
  const launches = launchesOf(side)
  const launch = launches.length === 1 ? launches[0]! : matching(side, launches)
  const blocks = launch ? blocksOf(launch) : null
  if (sms === null || blocks === null || blocks <= 0) return null
  return { blocks, share: blocks / (sms * Math.ceil(blocks / sms)) }
}

/** The kernel whose grid has the waves that ncu reports of the longest one. */
function matching(side: Side, launches: readonly LaunchLike[]): LaunchLike | undefined {
  const { device } = side.session
  const [waves, occupancy] = [positive(side, 'wavesPerSm'), positive(side, 'theoreticalOccupancy')]
  if (!device || waves === null || occupancy === null) return undefined
  const found = launches.filter((launch) => {
    const [blocks, threads] = [blocksOf(launch), threadsOf(launch)]
    if (blocks === null || threads === null) return false
    const perSm = Math.max(1, Math.round(((occupancy / 100) * device.maxThreadsPerSm) / threads))
    return Math.abs(blocks / (device.smCount * perSm) - waves) <= 0.01 + 0.01 * waves
  })
  return found.length === 1 ? found[0] : undefined
}
