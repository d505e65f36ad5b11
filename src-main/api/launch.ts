/**
 * Computes a launch's occupancy and waves according to the rules of CUDA's occupancy calculator.
 */
import { gpus as knownGpus } from '../domain/gpu/gpu-table'
import { occupancy as occupancyOf } from '../domain/gpu/occupancy'
import { inEnglish } from '../domain/text/english'
import { smLimits } from '../domain/gpu/sm-limits'
import { wavesOf } from '../domain/gpu/waves'

export interface Gpu {
  id: string
  name: string
  /** Compute capability, such as `9.0`. */
  computeCapability: string
  /** Number of SMs; null if NVIDIA has not published the number. */
  smCount: number | null
}

/** Resources that one block of a kernel uses. */
export interface KernelResources {
  /** Threads per block. */
  threads: number
  /** Registers per thread. */
  registers: number
  /** Shared memory per block in bytes, excluding the part that CUDA reserves. */
  staticSharedBytes: number
  dynamicSharedBytes: number
  /** Barriers per block. The default is 1. */
  barriers?: number
}

export type OccupancyLimiter = 'warps' | 'blocks' | 'registers' | 'shared' | 'barriers'

export interface Occupancy {
  blocksPerSm: number
  warpsPerSm: number
  warpsPerSmMax: number
  /** Resident warps as a percentage of the SM's maximum. */
  percent: number
  /**
   * Maximum blocks per SM, with each resource considered on its own. Null if the resource sets no
   * limit.
   */
  limits: Readonly<Record<OccupancyLimiter, number | null>>
  /** The tightest limits. The list is empty if not even one block fits. */
  limiters: readonly OccupancyLimiter[]
  /** One sentence that explains why no block can run. Absent if a block fits. */
  unlaunchable?: string
}

export interface Waves {
  /** Blocks that run at the same time on the whole GPU. */
  slots: number
  /** Number of waves, equal to ncu's `launch__waves_per_multiprocessor`. */
  waves: number
  /** Number of waves, counting a partial last wave as one. */
  wholeWaves: number
  /** Fraction of block slots used in the last wave, above 0 and at most 1. */
  lastWaveFill: number
  /**
   * Fraction of block-slot time used over the whole run, 0 to 1. Assumes that all blocks take
   * equally long.
   */
  efficiency: number
}

/** GPUs whose SM count and compute capability are known. */
export const gpus: readonly Gpu[] = knownGpus

/**
 * Returns the theoretical occupancy of a kernel for a compute capability such as `9.0`.
 *
 * @throws {RangeError} for an unknown compute capability or non-integer counts
 * @example
 * ```js
 * import { occupancy } from 'kernel-ladder'
 *
 * const kernel = { threads: 256, registers: 96, staticSharedBytes: 16384, dynamicSharedBytes: 0 }
 * const { percent, limiters } = occupancy('9.0', kernel)
 * console.log(`${percent} %, limited by ${limiters.join(' and ')}`) // 25 %, limited by registers
 * ```
 */
export function occupancy(computeCapability: string, kernel: KernelResources): Occupancy {
  const limits = smLimits(computeCapability)
  if (limits === undefined)
    throw new RangeError(`The limits of compute capability ${computeCapability} are not known.`)
  const { blocksPerSm, warpsPerSm, warpsPerSmMax, percent, ...rest } = occupancyOf(limits, kernel)
  return {
    ...{ blocksPerSm, warpsPerSm, warpsPerSmMax, percent },
    ...{ limits: rest.limits, limiters: rest.limiters },
    ...(rest.unlaunchable === undefined ? {} : { unlaunchable: inEnglish(rest.unlaunchable) }),
  }
}

/**
 * Returns how many waves a grid takes. Returns null if no block fits or the grid is empty.
 *
 * @param blocks number of blocks in the grid
 * @param smCount number of SMs on the GPU
 * @param blocksPerSm blocks per SM as returned by `occupancy`
 * @example
 * ```js
 * import { waves } from 'kernel-ladder'
 *
 * const { wholeWaves, efficiency } = waves(1024, 132, 2)
 * console.log(`${wholeWaves} waves, ${(100 * efficiency).toFixed(0)} % used`) // 4 waves, 97 % used
 * ```
 */
export const waves = (blocks: number, smCount: number, blocksPerSm: number): Waves | null =>
  wavesOf(blocks, smCount, blocksPerSm)
