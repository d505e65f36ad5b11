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

/** Whether two kernels belong to one run of a program. They do different work, so neither is faster than the other. */
export const areKernelsOfOneProgram = (a: Side, b: Side): boolean =>
  a.session === b.session && Boolean(a.session.program) && a.rung !== b.rung

export const valueOf = ({ rung }: Side, id: string): number | null =>
  rung.metrics[id]?.value ?? null

/** Returns a value that has a logarithm, otherwise null. */
export const positive = (side: Side, id: string): number | null => {
  const value = valueOf(side, id)
  return value !== null && value > 0 ? value : null
}

/** Returns the profiler's time in milliseconds, of the counted launch or else of all launches in the rung. */
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

/** Noise of a single launch under the profiler, at unknown clocks. */
const profiledNoise = 0.02

/** Returns both times from the same clock or the same model, or null. */
export function timesOf(a: Side, b: Side): Times | null {
  const [modelA, modelB] = [a.rung.predicted, b.rung.predicted]
  // Two results of one model have no noise between them.
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
 * Returns the cycles in which an SM was active, averaged over the SMs. Each scheduler issues at most one instruction per cycle, so the
 * instructions and the share of busy slots determine this number.
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

/** Returns the number of kernels per launch of the rung; 0 if unknown. */
export const kernelCount = (side: Side): number => launchesOf(side).length

interface Grid {
  blocks: number
  /** Share of the SMs' time with a block, 0 to 1, if all blocks take equally long and are spread evenly. */
  share: number
}

/** Returns how a rung's longest kernel fills the SMs; null if it is unknown which kernel that is. */
export function gridOf(side: Side): Grid | null {
  const sms = smCount(side)
  const launches = launchesOf(side)
  const launch = launches.length === 1 ? launches[0]! : matching(side, launches)
  const blocks = launch ? blocksOf(launch) : null
  if (sms === null || blocks === null || blocks <= 0) return null
  return { blocks, share: blocks / (sms * Math.ceil(blocks / sms)) }
}

/** Returns the kernel whose grid has the waves that ncu reports for the longest one. */
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
