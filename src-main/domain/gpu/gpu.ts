/** GPUs: what identifies one, what one SM can hold by compute capability, and the table of GPUs that are known by name. */
import { z } from 'zod'

// The GPU that a session was made on.

export const Device = z.object({
  name: z.string(),
  /** In CUDA's notation: `9.0`. */
  computeCapability: z.string(),
  smCount: z.number().int(),
  driver: z.string().nullable(),
  cudaDriver: z.string().nullable(),
  smClockMaxMHz: z.number().nullable(),
  /** As reported by the driver; absent in sessions that predate it. */
  memoryClockMHz: z.number().nullable().optional(),
  memoryBusBits: z.number().nullable().optional(),
  memoryTotalBytes: z.number(),
  l2Bytes: z.number(),
  sharedPerSmBytes: z.number(),
  sharedPerBlockOptinBytes: z.number(),
  registersPerSm: z.number(),
  maxThreadsPerSm: z.number(),
  maxBlocksPerSm: z.number(),
  /** Modes that change what a time means; null if the driver does not say, absent in sessions that predate them. */
  mig: z.boolean().nullable().optional(),
  ecc: z.boolean().nullable().optional(),
})
export type Device = z.infer<typeof Device>

// What one SM can hold, by compute capability.
//
// Sources: "Technical Specifications per Compute Capability" of the CUDA programming guide
// (https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html) for
// threads, registers and shared memory; cuda_occupancy.h of CUDA 13.0 for granularities, carve-outs,
// blocks and barriers. A test compares the rows with that header's own answers.

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
  /** 32-bit registers of an SM, which is also the maximum for one block. */
  registersPerSm: number
  /** Shared memory of an SM at its largest carve-out, bytes. */
  sharedPerSm: number
  /** The maximum per block with opt-in, static and dynamic together; bytes. */
  sharedPerBlock: number
  /** CUDA's reserved part of it per block, bytes. */
  sharedReserved: number
  sharedGranularity: number
  /** The possible shared-memory carve-outs, in bytes, ascending. */
  carveOuts: readonly number[]
  /** Hardware barriers of an SM; null if they do not limit the number of blocks. */
  barriersPerSm: number | null
}

export const warpSize = 32
export const threadsPerBlockMax = 1024
export const registersPerThreadMax = 255
/** Registers are allocated to a warp in units of this many. */
export const registerGranularity = 256
/** An SM has four schedulers, each with a quarter of the registers. */
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

// The barrier limit applies from compute capability 9.0 on; before, the block limit is reached first.
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

/** Limits by compute capability in CUDA's notation (`9.0`); undefined if not in the table. */
export const smLimits = (computeCapability: string): SmLimits | undefined =>
  isComputeCapability(computeCapability) ? table[computeCapability] : undefined

/** What the table knows of a GPU, by the names of the session format; null where there is no GPU. */
export function tableDevice(
  gpu: { computeCapability: string; smCount: number | null } | null,
): Partial<Device> | null {
  const limits = gpu && smLimits(gpu.computeCapability)
  return limits
    ? {
        ...(gpu.smCount === null ? {} : { smCount: gpu.smCount }),
        sharedPerSmBytes: limits.sharedPerSm,
        sharedPerBlockOptinBytes: limits.sharedPerBlock,
        registersPerSm: limits.registersPerSm,
        maxThreadsPerSm: limits.threadsPerSm,
        maxBlocksPerSm: limits.blocksPerSm,
      }
    : null
}

// GPUs by name, for building and computing occupancy on machines without one. SM counts are from NVIDIA's data
// sheets and architecture papers, compute capabilities from https://developer.nvidia.com/cuda-gpus; a count that
// was not found there is null.

export interface Gpu {
  /** As given to `--target static:<id>`. */
  id: string
  name: string
  computeCapability: ComputeCapability
  smCount: number | null
}

export const gpus: readonly Gpu[] = [
  { id: 't4', name: 'Tesla T4', computeCapability: '7.5', smCount: 40 },
  { id: 'rtx-2080-ti', name: 'GeForce RTX 2080 Ti', computeCapability: '7.5', smCount: 68 },
  { id: 'a100', name: 'A100', computeCapability: '8.0', smCount: 108 },
  { id: 'a30', name: 'A30', computeCapability: '8.0', smCount: 56 },
  { id: 'a10', name: 'A10', computeCapability: '8.6', smCount: 72 },
  { id: 'a40', name: 'A40', computeCapability: '8.6', smCount: 84 },
  { id: 'rtx-3060', name: 'GeForce RTX 3060', computeCapability: '8.6', smCount: 28 },
  { id: 'rtx-3090', name: 'GeForce RTX 3090', computeCapability: '8.6', smCount: 82 },
  { id: 'agx-orin', name: 'Jetson AGX Orin', computeCapability: '8.7', smCount: 16 },
  { id: 'l4', name: 'L4', computeCapability: '8.9', smCount: 58 },
  { id: 'l40s', name: 'L40S', computeCapability: '8.9', smCount: 142 },
  { id: 'rtx-4090', name: 'GeForce RTX 4090', computeCapability: '8.9', smCount: 128 },
  { id: 'h100', name: 'H100 SXM', computeCapability: '9.0', smCount: 132 },
  { id: 'h100-pcie', name: 'H100 PCIe', computeCapability: '9.0', smCount: 114 },
  { id: 'h200', name: 'H200', computeCapability: '9.0', smCount: 132 },
  { id: 'b200', name: 'B200', computeCapability: '10.0', smCount: 148 },
  { id: 'b300', name: 'B300', computeCapability: '10.3', smCount: null },
  { id: 'rtx-5080', name: 'GeForce RTX 5080', computeCapability: '12.0', smCount: 84 },
  { id: 'rtx-5090', name: 'GeForce RTX 5090', computeCapability: '12.0', smCount: 170 },
]

export const gpuById = (id: string): Gpu | undefined => gpus.find((gpu) => gpu.id === id)

/** The GPUs of one compute capability, by name. */
export const gpusOf = (computeCapability: ComputeCapability): Gpu[] =>
  gpus.filter((gpu) => gpu.computeCapability === computeCapability)

/** A GPU or architecture to build for when no GPU is present. */
export interface BuildGpu {
  name: string
  computeCapability: ComputeCapability
  smCount: number | null
}

/** `h200`, or `sm_90` for an architecture about which nothing more is known; null for anything else. */
export function buildGpu(word: string): BuildGpu | null {
  const known = gpuById(word)
  if (known) return known
  const [, major, minor] = /^sm_(\d+)(\d)$/.exec(word) ?? []
  const computeCapability = `${major}.${minor}`
  return isComputeCapability(computeCapability)
    ? { name: word, computeCapability, smCount: null }
    : null
}

// The state of a GPU while something was timed, as its driver (NVML) reports it. Pure.

/**
 * Why clocks were held down, by the bits of nvmlClocksThrottleReasons (nvml.h). An idle GPU is no reason: it lowers its
 * clocks because there is nothing to do.
 */
const reasonBits = {
  applicationClocks: 0x02,
  powerCap: 0x04,
  hardwareSlowdown: 0x08,
  syncBoost: 0x10,
  softwareThermal: 0x20,
  hardwareThermal: 0x40,
  powerBrake: 0x80,
  displayClocks: 0x100,
} as const

export type ClockReason = keyof typeof reasonBits
export const clockReasons = Object.keys(reasonBits) as [ClockReason, ...ClockReason[]]

const figure = z.number().nullable()

/** Each null if the driver does not say. */
export const GpuState = z.object({
  /** The lowest and the highest that were seen. */
  smClockLowMHz: figure,
  smClockHighMHz: figure,
  memoryClockMHz: figure,
  /** The highest that were seen. */
  temperatureC: figure,
  powerW: figure,
  powerLimitW: figure,
  /** What held clocks down at any moment that was looked at. */
  heldDownBy: z.array(z.enum(clockReasons)).nullable(),
})
export type GpuState = z.infer<typeof GpuState>

export const reasonsIn = (bits: number): ClockReason[] =>
  clockReasons.filter((reason) => (bits & reasonBits[reason]) !== 0)
