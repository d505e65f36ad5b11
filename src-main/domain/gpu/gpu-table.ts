/**
 * The built-in GPUs. On machines without a GPU, they are used for compilation and for computing
 * occupancy.
 *
 * SM counts are from NVIDIA's data sheets and architecture papers. An SM count is null if the data
 * sheets and papers do not state it. Compute capabilities are from
 * https://developer.nvidia.com/cuda-gpus.
 */
import { Device } from './device'
import { isComputeCapability, smLimits, type ComputeCapability } from './sm-limits'

/** Returns a GPU's data from the table, using the session format's field names. */
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

export interface Gpu {
  /** GPU id, as used in `--target static:<id>`. */
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

/** Returns the GPUs with the given compute capability, in table order. */
export const gpusOf = (computeCapability: ComputeCapability): Gpu[] =>
  gpus.filter((gpu) => gpu.computeCapability === computeCapability)

/** A GPU or architecture to compile for if no GPU is present. */
export interface BuildGpu {
  name: string
  computeCapability: ComputeCapability
  smCount: number | null
}

/**
 * Returns the GPU with an id such as `h200`, or an architecture such as `sm_90`. Returns null for
 * unknown names.
 */
export function buildGpu(word: string): BuildGpu | null {
  const known = gpuById(word)
  if (known) return known
  const [, major, minor] = /^sm_(\d+)(\d)$/.exec(word) ?? []
  const computeCapability = `${major}.${minor}`
  return isComputeCapability(computeCapability)
    ? { name: word, computeCapability, smCount: null }
    : null
}
