/** Occupancy and waves of a launch, by the rules of CUDA's occupancy calculator. */
import { gpus as knownGpus } from '../domain/gpu/gpu-table'
import { occupancy as occupancyOf } from '../domain/gpu/occupancy'
import { inEnglish } from '../domain/text/english'
import { smLimits } from '../domain/gpu/sm-limits'
import { wavesOf } from '../domain/gpu/waves'

export interface Gpu {
  id: string
  name: string
  /** `9.0` */
  computeCapability: string
  /** Null if NVIDIA has not published it. */
  smCount: number | null
}

/** What one block of a kernel takes. */
export interface KernelResources {
  /** Threads per block. */
  threads: number
  /** Registers per thread. */
  registers: number
  /** Shared memory per block in bytes, without what CUDA reserves. */
  staticSharedBytes: number
  dynamicSharedBytes: number
  /** Barriers per block; 1 if absent. */
  barriers?: number
}

export type OccupancyLimiter = 'warps' | 'blocks' | 'registers' | 'shared' | 'barriers'

export interface Occupancy {
  blocksPerSm: number
  warpsPerSm: number
  warpsPerSmMax: number
  /** Resident warps as a share of what an SM can hold, percent. */
  percent: number
  /** Blocks that an SM could hold if this were the only limit; null if it does not limit. */
  limits: Readonly<Record<OccupancyLimiter, number | null>>
  /** The limits reached first; empty if not even one block fits. */
  limiters: readonly OccupancyLimiter[]
  /** Why no block can run, as a sentence; absent if one can. */
  unlaunchable?: string
}

export interface Waves {
  /** Blocks that run at the same time on the whole GPU. */
  slots: number
  /** The same as ncu's `launch__waves_per_multiprocessor`. */
  waves: number
  /** Waves, counting the last one as a full one. */
  wholeWaves: number
  /** Share of the slots used in the last wave, above 0 and at most 1. */
  lastWaveFill: number
  /** Share of the slot time that is used over the whole run, 0 to 1, if all blocks take equally long. */
  efficiency: number
}

/** GPUs whose number of SMs and compute capability are known. */
export const gpus: readonly Gpu[] = knownGpus

/**
 * Theoretical occupancy of a kernel on GPUs of a compute capability, such as `9.0`.
 *
 * @throws {RangeError} for an unknown compute capability, or counts that are not whole numbers
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
 * How often a grid fills the GPU. Null if no block fits, or there are none.
 *
 * @param blocks of the grid
 * @param smCount of the GPU
 * @param blocksPerSm as `occupancy` says
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
