/**
 * Computes theoretical occupancy: how many of a kernel's blocks fit on one SM, and which resource
 * limits the number.
 *
 * The rules are the same as in cuda_occupancy.h. A test checks that the results equal ncu's
 * launch__occupancy_limit_* and sm__maximum_warps_per_active_cycle_pct for every launch of the
 * built-in recordings.
 *
 * Some facts cannot be computed from the launch:
 * - The carve-out that the driver selects for a launch. Pass `carveOutBytes` if ncu reported the
 *   carve-out. The carve-out affects the shared-memory limit but, in the recordings, never the
 *   occupancy.
 * - The number of clusters that fit on the GPU at the same time.
 * - Tensor memory limits on compute capability 10.0 and later.
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
  /** Number of threads per block. */
  threads: number
  /** Registers per thread, as reported by ptxas and CUDA. */
  registers: number
  /** Shared memory per block in bytes, excluding the part that CUDA reserves. */
  staticSharedBytes: number
  dynamicSharedBytes: number
  /**
   * Barriers per block (ncu's launch__barrier_count). The default is 1 barrier, as in CUDA's
   * calculator.
   */
  barriers?: number
  /**
   * Shared memory configured for the SM at launch, in bytes (launch__shared_mem_config_size). The
   * default is the SM's maximum.
   */
  carveOutBytes?: number
}

export const occupancyLimiters = ['warps', 'blocks', 'registers', 'shared', 'barriers'] as const
export type OccupancyLimiter = (typeof occupancyLimiters)[number]

export interface Occupancy {
  blocksPerSm: number
  warpsPerBlock: number
  warpsPerSm: number
  warpsPerSmMax: number
  /** Resident warps as a percentage of the SM's maximum. */
  percent: number
  /**
   * Number of blocks per SM that each resource allows. Null if the resource does not limit the
   * number of blocks.
   */
  limits: Record<OccupancyLimiter, number | null>
  /** Resources with the lowest limit. The list is empty if no block fits. */
  limiters: OccupancyLimiter[]
  /** Resources that one block uses after rounding, including the part that CUDA reserves. */
  allocated: { registersPerBlock: number; sharedBytesPerBlock: number }
  /** Reason that no block can run. Absent if blocks can run. */
  unlaunchable?: AnyMessage
}

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step

const warpsOf = (threads: number): number => Math.ceil(threads / warpSize)

/** Returns the number of registers that one warp uses, rounded up to the allocation granularity. */
const registersPerWarp = (registers: number): number =>
  roundUp(registers * warpSize, registerGranularity)

/**
 * Returns how many bytes of shared memory one block uses, including rounding and the part that CUDA
 * reserves.
 */
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

/**
 * Returns the number of blocks per SM that the barriers allow. As in ncu and CUDA, the number is at
 * most the SM's block limit.
 */
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
  // CUDA assumes that a block's warps are distributed evenly over the schedulers.
  if (registersAllocated > limits.registersPerSm)
    return message('occupancy.registersOfBlock', {
      held: registersAllocated,
      most: limits.registersPerSm,
    })
  return undefined
}

/** Throws a RangeError if a count is fractional or too small, which is a programming error. */
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
