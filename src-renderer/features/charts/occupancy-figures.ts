/**
 * Calculates the occupancy limits of each rung from its launch. The chart shows the limits next to
 * the occupancy that ncu measured.
 */
import {
  blocksOf,
  launchOccupancy,
  type LaunchLike,
} from '../../../src-main/domain/analysis/derived-metrics'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { gpuOfTarget, isBuiltOnly } from '../../../src-main/domain/targets/targets'
import { occupancyLimiters, type Occupancy } from '../../../src-main/domain/gpu/occupancy'
import { smLimits } from '../../../src-main/domain/gpu/sm-limits'
import { scheduleOf, wavesOf, type Schedule, type Waves } from '../../../src-main/domain/gpu/waves'

export interface RungOccupancy {
  rung: RungResult
  kernel: LaunchLike
  occupancy: Occupancy
  /** Number of blocks in the grid. */
  blocks: number
}

export type OccupancyGap =
  /** No launch was recorded, so the block size and the registers are unknown. */
  | 'notProfiled'
  /** The resources that a block uses are unknown for every launch. */
  | 'noResources'
  | 'noDevice'
  | 'unknownGpu'

interface Gpu {
  computeCapability: string
  /** Number of SMs, or null if the rungs were built for an architecture instead of a GPU. */
  smCount: number | null
}

/**
 * Returns the GPU's SM count and compute capability: from the session's device, from the target of
 * a build, or from the counters of an import.
 */
export function gpuOf(session: Session, rung: RungResult): Gpu | null {
  if (session.device) return session.device
  const built = gpuOfTarget(session.target)
  if (built) return built
  const metrics = rung.ncuMetrics ?? rung.profile?.kernels[0]?.ncuMetrics
  const number = (name: string) => {
    const value = metrics?.[name]?.value
    return typeof value === 'number' ? value : null
  }
  const major = number('device__attribute_compute_capability_major')
  const minor = number('device__attribute_compute_capability_minor')
  const smCount = number('device__attribute_multiprocessor_count')
  return major === null || minor === null || smCount === null
    ? null
    : { computeCapability: `${major}.${minor}`, smCount }
}

/**
 * Returns the launch that represents a rung with several launches. Metrics describe the
 * longest-running kernel, so the launch that matches the metrics is preferred. If no launch
 * matches, returns the launch with the most registers per block.
 */
function mainLaunch(rung: RungResult, found: readonly RungOccupancy[]): RungOccupancy | undefined {
  const registers = rung.metrics['registersPerThread']?.value
  const percent = rung.metrics['theoreticalOccupancy']?.value
  const agreeing = found.find(
    ({ kernel, occupancy }) =>
      kernel.resources?.registersPerThread === registers &&
      percent != null &&
      Math.abs(occupancy.percent - percent) < 0.1,
  )
  if (agreeing) return agreeing
  const registersOf = ({ occupancy }: RungOccupancy) => occupancy.allocated.registersPerBlock
  return [...found].sort((a, b) => registersOf(b) - registersOf(a))[0]
}

export function rungOccupancy(session: Session, rung: RungResult): RungOccupancy | OccupancyGap {
  const profiled: readonly LaunchLike[] = rung.profile?.kernels ?? []
  const launches = profiled.some(({ resources }) => resources)
    ? profiled
    : (rung.launches ?? profiled)
  if (launches.length === 0) return 'notProfiled'
  const gpu = gpuOf(session, rung)
  if (!gpu) return 'noDevice'
  if (!smLimits(gpu.computeCapability)) return 'unknownGpu'
  const found = launches.flatMap((launch) => {
    const occupancy = launchOccupancy(launch, gpu)
    const blocks = blocksOf(launch)
    return 'reason' in occupancy || blocks === null
      ? []
      : [{ rung, kernel: launch, occupancy, blocks }]
  })
  return mainLaunch(rung, found) ?? 'noResources'
}

export const isKnown = (found: RungOccupancy | OccupancyGap): found is RungOccupancy =>
  typeof found !== 'string'

/**
 * Returns the occupancy limits in the order of `occupancyLimiters`. The value is null for a
 * resource that allows more blocks than an SM can hold. Such a resource sets no limit, and its
 * value would be outside the axis.
 */
export const drawnLimits = ({ limits }: Occupancy): (number | null)[] =>
  occupancyLimiters.map((limiter) => {
    const limit = limits[limiter]
    return limit !== null && limit > (limits.blocks ?? Infinity) ? null : limit
  })

export interface RungWaves extends RungOccupancy {
  waves: Waves
  schedule: Schedule
  smCount: number
}

/**
 * Returns the waves of a launch, or null if no block fits. Also returns null for launches with
 * clusters, because CUDA does not report how the GPU groups its SMs. For a build, it may be unknown
 * whether a rung uses clusters.
 */
export function rungWaves(session: Session, own: RungOccupancy): RungWaves | null {
  const gpu = gpuOf(session, own.rung)
  if (gpu?.smCount == null) return null
  const clusters = own.kernel.resources?.clusterBlocks
  if (clusters || (clusters === null && isBuiltOnly(session.target))) return null
  const { blocksPerSm } = own.occupancy
  const waves = wavesOf(own.blocks, gpu.smCount, blocksPerSm)
  const schedule = scheduleOf(own.blocks, gpu.smCount, blocksPerSm)
  return waves && schedule ? { ...own, waves, schedule, smCount: gpu.smCount } : null
}
