/** Reads the time, counters, clock and grid of one side of a comparison. */
import { blocksOf, threadsOf, type LaunchLike } from '../analysis/derived-metrics'
import { clockOf } from '../analysis/time-change'
import type { DeepProfile } from '../session/deep'
import type { RungResult, Session } from '../session/session'
import { gpuOfTarget } from '../targets/targets'
import { schedulersPerSm } from '../gpu/sm-limits'

export interface Side {
  session: Session
  rung: RungResult
  /** Deep profile; absent or null below the deep level. */
  deep?: DeepProfile | null | undefined
}

/**
 * Returns whether two kernels belong to the same program run. Two kernels of one program run do
 * different work, so neither is faster than the other.
 */
export const areKernelsOfOneProgram = (a: Side, b: Side): boolean =>
  a.session === b.session && Boolean(a.session.program) && a.rung !== b.rung

export const valueOf = ({ rung }: Side, id: string): number | null =>
  rung.metrics[id]?.value ?? null

/** Returns a metric's value if it is positive, otherwise null. */
export const positive = (side: Side, id: string): number | null => {
  const value = valueOf(side, id)
  return value !== null && value > 0 ? value : null
}

/**
 * Returns the profiler's time in milliseconds: the time of the counted launch, or the median over
 * all launches of the rung.
 */
const profiledMs = ({ rung }: Side): number | null => {
  const ns = rung.ncuMetrics?.['gpu__time_duration.sum']?.value
  const ms = typeof ns === 'number' ? ns / 1e6 : (rung.profiledTime?.medianMs ?? 0)
  return ms > 0 ? ms : null
}

export interface Times {
  a: number
  b: number
  /** Combined spread of the two times. */
  noise: number
}

/** Relative noise of a single profiled launch if the clocks are unknown. */
const profiledNoise = 0.02

/** Returns the two sides' times if they have the same source, otherwise null. */
export function timesOf(a: Side, b: Side): Times | null {
  const [modelA, modelB] = [a.rung.predicted, b.rung.predicted]
  // Two predictions by the same model have no noise relative to each other.
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
 * Returns the number of active cycles, averaged over the SMs. Each scheduler issues at most one
 * instruction per cycle. The number of active cycles therefore follows from the instructions and
 * the fraction of busy issue slots.
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
  /**
   * Fraction of time during which an SM has a resident block, 0 to 1. Assumes that blocks take
   * equally long and are evenly distributed.
   */
  share: number
}

/**
 * Returns how the blocks of a rung's longest kernel fill the SMs, or null if that kernel is
 * unknown.
 */
export function gridOf(side: Side): Grid | null {
  const sms = smCount(side)
  const launches = launchesOf(side)
  const launch = launches.length === 1 ? launches[0]! : matching(side, launches)
  const blocks = launch ? blocksOf(launch) : null
  if (sms === null || blocks === null || blocks <= 0) return null
  return { blocks, share: blocks / (sms * Math.ceil(blocks / sms)) }
}

/** Returns the kernel whose grid matches the wave count that ncu reports for the longest kernel. */
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
