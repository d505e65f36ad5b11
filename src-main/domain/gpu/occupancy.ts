/**
 * Theoretical occupancy: how many blocks of a kernel one SM can hold, and what limits them.
 * The rules are those of cuda_occupancy.h; the results equal ncu's launch__occupancy_limit_* and
 * sm__maximum_warps_per_active_cycle_pct on every launch of the shipped recordings (a test).
 *
 * Not derivable here: the carve-out that the driver picks for a launch (pass `carveOutBytes` if ncu reported it;
 * it affects the shared-memory limit but, in the recordings, never the occupancy), how many clusters the GPU
 * can hold at once, and tensor memory limits from compute capability 10.0 on.
 */
import { message, type AnyMessage } from '../messages/message'
import {
  registerGranularity,
  registersPerThreadMax,
  schedulersPerSm,
  threadsPerBlockMax,
  warpSize,
  type SmLimits,
} from './sm-limits'

export interface KernelResources {
  /** Threads per block. */
  threads: number
  /** Registers per thread, as counted by ptxas and CUDA. */
  registers: number
  /** Shared memory per block in bytes, without CUDA's reserved part. */
  staticSharedBytes: number
  dynamicSharedBytes: number
  /** Barriers per block (ncu's launch__barrier_count); 1 if unknown, as CUDA's calculator assumes. */
  barriers?: number
  /** Shared memory configured for the SM at launch (launch__shared_mem_config_size), bytes; the maximum if unknown. */
  carveOutBytes?: number
}

export const occupancyLimiters = ['warps', 'blocks', 'registers', 'shared', 'barriers'] as const
export type OccupancyLimiter = (typeof occupancyLimiters)[number]

export interface Occupancy {
  blocksPerSm: number
  warpsPerBlock: number
  warpsPerSm: number
  warpsPerSmMax: number
  /** Resident warps as a share of what an SM can hold, percent. */
  percent: number
  /** Blocks an SM could hold if this were the only limit; null if it does not limit. */
  limits: Record<OccupancyLimiter, number | null>
  /** The limits reached first; empty if not even one block fits. */
  limiters: OccupancyLimiter[]
  /** What one block takes after rounding up, including CUDA's own share. */
  allocated: { registersPerBlock: number; sharedBytesPerBlock: number }
  /** Why no block can run; absent if one can. */
  unlaunchable?: AnyMessage
}

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step

const warpsOf = (threads: number): number => Math.ceil(threads / warpSize)

/** Registers of one warp, rounded up to the allocation granularity. */
const registersPerWarp = (registers: number): number =>
  roundUp(registers * warpSize, registerGranularity)

/** Shared memory of one block in bytes, including CUDA's own share and rounding. */
export const sharedAllocated = (limits: SmLimits, bytes: number): number =>
  roundUp(bytes + limits.sharedReserved, limits.sharedGranularity)

function registerLimit(limits: SmLimits, registers: number, warps: number): number | null {
  const perWarp = registersPerWarp(registers)
  if (perWarp === 0) return null
  const warpsPerScheduler = Math.floor(limits.registersPerSm / schedulersPerSm / perWarp)
  return Math.floor((warpsPerScheduler * schedulersPerSm) / warps)
}

function sharedLimit(limits: SmLimits, kernel: KernelResources, allocated: number): number | null {
  if (allocated === 0) return null
  return Math.floor((kernel.carveOutBytes ?? limits.sharedPerSm) / allocated)
}

/** ncu and CUDA cap this limit at the SM's block limit. */
const barrierLimit = (limits: SmLimits, barriers: number): number | null =>
  limits.barriersPerSm === null
    ? null
    : Math.min(limits.blocksPerSm, Math.floor(limits.barriersPerSm / Math.max(barriers, 1)))

function whyUnlaunchable(limits: SmLimits, kernel: KernelResources): AnyMessage | undefined {
  const { threads, registers } = kernel
  const shared = kernel.staticSharedBytes + kernel.dynamicSharedBytes
  const registersAllocated =
    registersPerWarp(registers) * roundUp(warpsOf(threads), schedulersPerSm)
  if (threads > threadsPerBlockMax)
    return message('occupancy.threads', { most: threadsPerBlockMax, threads })
  if (registers > registersPerThreadMax)
    return message('occupancy.registers', { most: registersPerThreadMax, registers })
  if (shared > limits.sharedPerBlock)
    return message('occupancy.shared', {
      most: limits.sharedPerBlock,
      computeCapability: limits.computeCapability,
      bytes: shared,
    })
  // CUDA assumes that the warps of a block are spread evenly over the schedulers.
  if (registersAllocated > limits.registersPerSm)
    return message('occupancy.registersOfBlock', {
      held: registersAllocated,
      most: limits.registersPerSm,
    })
  return undefined
}

/** Throws a RangeError for counts that are fractional or below their minimum: a programming error. */
function requireCounts(kernel: KernelResources): void {
  const least = { threads: 1, registers: 0, staticSharedBytes: 0, dynamicSharedBytes: 0 } as const
  for (const name of ['threads', 'registers', 'staticSharedBytes', 'dynamicSharedBytes'] as const)
    if (!Number.isSafeInteger(kernel[name]) || kernel[name] < least[name])
      throw new RangeError(`${name} must be a whole number from ${least[name]}: ${kernel[name]}.`)
}

export function occupancy(limits: SmLimits, kernel: KernelResources): Occupancy {
  requireCounts(kernel)
  const warpsPerBlock = warpsOf(kernel.threads)
  const warpsPerSmMax = limits.threadsPerSm / warpSize
  const sharedBytesPerBlock = sharedAllocated(
    limits,
    kernel.staticSharedBytes + kernel.dynamicSharedBytes,
  )
  const unlaunchable = whyUnlaunchable(limits, kernel)
  const own: Occupancy['limits'] = {
    warps: Math.floor(warpsPerSmMax / warpsPerBlock),
    blocks: limits.blocksPerSm,
    registers: registerLimit(limits, kernel.registers, warpsPerBlock),
    shared: sharedLimit(limits, kernel, sharedBytesPerBlock),
    barriers: barrierLimit(limits, kernel.barriers ?? 1),
  }
  const blocksPerSm = unlaunchable
    ? 0
    : Math.min(...Object.values(own).filter((limit) => limit !== null))
  const warpsPerSm = blocksPerSm * warpsPerBlock
  return {
    blocksPerSm,
    warpsPerBlock,
    warpsPerSm,
    warpsPerSmMax,
    percent: (warpsPerSm / warpsPerSmMax) * 100,
    limits: own,
    limiters: unlaunchable ? [] : occupancyLimiters.filter((name) => own[name] === blocksPerSm),
    allocated: {
      registersPerBlock: registersPerWarp(kernel.registers) * warpsPerBlock,
      sharedBytesPerBlock,
    },
    ...(unlaunchable ? { unlaunchable } : {}),
  }
}
