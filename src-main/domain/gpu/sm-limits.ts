/**
 * Resource limits per SM, by compute capability.
 *
 * Threads, registers and shared memory are from "Technical Specifications per Compute Capability"
 * in the CUDA programming guide
 * (https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html).
 * Granularities, carve-outs, blocks, and barriers are from CUDA 13.0's cuda_occupancy.h. A test
 * compares the table rows with the header's results.
 */

export const computeCapabilities = [
  '7.5',
  '8.0',
  '8.6',
  '8.7',
  '8.9',
  '9.0',
  '10.0',
  '10.3',
  '12.0',
] as const

export type ComputeCapability = (typeof computeCapabilities)[number]

export interface SmLimits {
  computeCapability: ComputeCapability
  threadsPerSm: number
  blocksPerSm: number
  /** Number of 32-bit registers per SM. A single block can use all registers. */
  registersPerSm: number
  /** Shared memory per SM in bytes, with the largest carve-out. */
  sharedPerSm: number
  /**
   * Maximum opt-in shared memory per block, in bytes. The maximum includes static and dynamic
   * shared memory.
   */
  sharedPerBlock: number
  /** Shared memory in bytes that CUDA reserves per block. */
  sharedReserved: number
  sharedGranularity: number
  /** Possible shared-memory carve-outs in bytes, in ascending order. */
  carveOuts: readonly number[]
  /** Number of hardware barriers per SM. Null if barriers do not limit the number of blocks. */
  barriersPerSm: number | null
}

export const warpSize = 32

export const threadsPerBlockMax = 1024

export const registersPerThreadMax = 255

/** Number of registers per allocation unit. Registers are allocated per warp. */
export const registerGranularity = 256

/** Number of schedulers per SM. Each scheduler has a quarter of the registers. */
export const schedulersPerSm = 4

const KiB = 1024

const kib = (...sizes: readonly number[]): number[] => sizes.map((size) => size * KiB)

const turing = kib(32, 64)

const upTo100 = kib(0, 8, 16, 32, 64, 100)

const upTo164 = kib(0, 8, 16, 32, 64, 100, 132, 164)

const upTo228 = kib(0, 8, 16, 32, 64, 100, 132, 164, 196, 228)

const row = (
  computeCapability: ComputeCapability,
  threadsPerSm: number,
  blocksPerSm: number,
  carveOuts: readonly number[],
  barriersPerSm: number | null,
): SmLimits => {
  const sharedPerSm = carveOuts.at(-1)!
  const sharedReserved = computeCapability === '7.5' ? 0 : KiB
  return {
    computeCapability,
    threadsPerSm,
    blocksPerSm,
    registersPerSm: 65_536,
    sharedPerSm,
    sharedPerBlock: sharedPerSm - sharedReserved,
    sharedReserved,
    sharedGranularity: computeCapability === '7.5' ? 256 : 128,
    carveOuts,
    barriersPerSm,
  }
}

// The barrier limit applies to compute capability 9.0 and later. On older GPUs, the block limit is
// reached first.
const table: Record<ComputeCapability, SmLimits> = {
  '7.5': row('7.5', 1024, 16, turing, null),
  '8.0': row('8.0', 2048, 32, upTo164, null),
  '8.6': row('8.6', 1536, 16, upTo100, null),
  '8.7': row('8.7', 1536, 16, upTo164, null),
  '8.9': row('8.9', 1536, 24, upTo100, null),
  '9.0': row('9.0', 2048, 32, upTo228, 64),
  '10.0': row('10.0', 2048, 32, upTo228, 64),
  '10.3': row('10.3', 2048, 32, upTo228, 64),
  '12.0': row('12.0', 1536, 24, upTo100, 24),
}

export const isComputeCapability = (word: string): word is ComputeCapability =>
  computeCapabilities.some((known) => known === word)

/**
 * Returns the limits for a compute capability in CUDA's notation, such as `9.0`. Returns undefined
 * if the compute capability is not in the table.
 */
export const smLimits = (computeCapability: string): SmLimits | undefined =>
  isComputeCapability(computeCapability) ? table[computeCapability] : undefined
