/**
 * Theoretical occupancy: how many blocks of a kernel one SM can hold, and what keeps it from more.
 * The rules are those of cuda_occupancy.h; the results equal ncu's launch__occupancy_limit_* and
 * sm__maximum_warps_per_active_cycle_pct on every launch of the shipped recordings (a test).
 *
 * Not derivable here: the carve-out that the driver picks for a launch (pass `carveOutBytes` where ncu
 * told it; it moves the shared-memory limit and, in the recordings, never the occupancy), how many
 * clusters the GPU can hold at once, and limits by tensor memory from compute capability 10.0 on.
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
  /** Threads a block. */
  threads: number
  /** Registers a thread, as ptxas and CUDA count them. */
  registers: number
  /** Shared memory of a block, bytes, without what CUDA reserves. */
  staticSharedBytes: number
  dynamicSharedBytes: number
  /** Barriers of a block (ncu's launch__barrier_count); 1 where not known, as CUDA's calculator assumes. */
  barriers?: number
  /** Shared memory the SM was set to at launch (launch__shared_mem_config_size), bytes; the largest where not known. */
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
  /** Blocks an SM could hold if this were its only limit; null where it is none. */
  limits: Record<OccupancyLimiter, number | null>
  /** Those that are met first; empty when the block does not fit at all. */
  limiters: OccupancyLimiter[]
  /** What one block takes after rounding up, CUDA's own share included. */
  allocated: { registersPerBlock: number; sharedBytesPerBlock: number }
  /** Why no block of it can run; absent when one can. */
  unlaunchable?: AnyMessage
}

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step

export const warpsOf = (threads: number): number => Math.ceil(threads / warpSize)

/** Registers that one warp holds, rounded up to what is given out at once. */
export const registersPerWarp = (registers: number): number =>
  roundUp(registers * warpSize, registerGranularity)

/** Shared memory that one block holds, CUDA's own share and rounding included, bytes. */
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

/** ncu and CUDA count at most as many as the SM takes blocks. */
const barrierLimit = (limits: SmLimits, barriers: number): number | null =>
  limits.barriersPerSm === null
    ? null
    : Math.min(limits.blocksPerSm, Math.floor(limits.barriersPerSm / Math.max(barriers, 1)))

function whyUnlaunchable(limits: SmLimits, kernel: KernelResources): AnyMessage | undefined {
  const { threads, registers } = kernel
  const shared = kernel.staticSharedBytes + kernel.dynamicSharedBytes
  const held = registersPerWarp(registers) * roundUp(warpsOf(threads), schedulersPerSm)
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
  // CUDA checks as if the warps of a block were spread evenly over the schedulers.
  if (held > limits.registersPerSm)
    return message('occupancy.registersOfBlock', { held, most: limits.registersPerSm })
  return undefined
}

/** Throws a RangeError for counts that are not whole or below their least; the caller's mistake. */
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
