/** A launch by rule: occupancy and waves as CUDA's calculator has them, and what one memory instruction of a warp costs. */
import { gpus as knownGpus, smLimits, warpSize } from '../domain/gpu/gpu'
import { occupancy as occupancyOf, wavesOf } from '../domain/gpu/occupancy'
import { inEnglish } from '../domain/text/text'
import { globalAccess as globalOf, sharedAccess as sharedOf } from '../domain/emulator/accesses'

// Occupancy and waves of a launch, by the rules of CUDA's occupancy calculator.

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

// What one memory instruction of a warp costs, by the rules of compute capability 9.0 as ncu counts them.

export interface SharedCost {
  /** Passes through shared memory. */
  wavefronts: number
  /** What they would be without bank conflicts. */
  ideal: number
}

export interface GlobalCost {
  /** Distinct 32-byte sectors. */
  sectors: number
  /** What they would be if the lanes' bytes were next to each other. */
  ideal: number
  /** Distinct 128-byte lines. */
  tags: number
}

export interface Access {
  /** Byte address by lane, 32 of them; of a lane outside of `mask` it is not looked at. */
  addresses: readonly number[]
  /** Bytes of each lane: 1, 2, 4, 8 or 16. */
  bytes: number
  /** One bit a lane; all lanes if absent. */
  mask?: number
}

function checked({ addresses, bytes, mask = 0xffffffff }: Access): Required<Access> {
  if (![1, 2, 4, 8, 16].includes(bytes))
    throw new RangeError(`bytes must be 1, 2, 4, 8 or 16: ${bytes}.`)
  if (addresses.length !== warpSize)
    throw new RangeError(`addresses must have one for each of 32 lanes: ${addresses.length}.`)
  const wrong = addresses.find(
    (address, lane) => (mask >>> lane) & 1 && !(Number.isSafeInteger(address) && address >= 0),
  )
  if (wrong !== undefined) throw new RangeError(`An address must be a whole number: ${wrong}.`)
  return { addresses, bytes, mask: mask | 0 }
}

/**
 * Wavefronts of a shared-memory access. More than ideal are bank conflicts.
 *
 * @example
 * ```js
 * import { sharedAccess } from 'kernel-ladder'
 *
 * const column = Array.from({ length: 32 }, (_, lane) => 4 * 32 * lane)
 * console.log(sharedAccess('load', { addresses: column, bytes: 4 })) // { wavefronts: 32, ideal: 1 }
 * ```
 */
export function sharedAccess(kind: 'load' | 'store' | 'atomic', access: Access): SharedCost {
  const { addresses, bytes, mask } = checked(access)
  return sharedOf(kind, bytes, mask, addresses)
}

/**
 * Sectors and tags of a global-memory access. More sectors than ideal are uncoalesced.
 *
 * @example
 * ```js
 * import { globalAccess } from 'kernel-ladder'
 *
 * const strided = Array.from({ length: 32 }, (_, lane) => 8 * lane)
 * console.log(globalAccess({ addresses: strided, bytes: 4 })) // { sectors: 8, ideal: 4, tags: 2 }
 * ```
 */
export function globalAccess(access: Access): GlobalCost {
  const { addresses, bytes, mask } = checked(access)
  return globalOf(bytes, mask, addresses)
}
