/**
 * Suggests how to increase a kernel's occupancy, and computes occupancy as a function of each
 * resource.
 */
import { registersPerThreadMax, threadsPerBlockMax, warpSize, type SmLimits } from './sm-limits'
import { occupancy, type KernelResources, type OccupancyLimiter } from './occupancy'

/**
 * A change to one resource. Together with the other changes in the same advice, this change allows
 * `blocksPerSm` blocks per SM.
 */
export interface ResourceChange {
  resource: 'registers' | 'shared' | 'threads'
  from: number
  /**
   * Nearest sufficient value: registers per thread, bytes of shared memory, or threads per block.
   */
  to: number
}

interface OccupancyAdvice {
  /** Changes that must be made together. */
  changes: ResourceChange[]
  blocksPerSm: number
  percent: number
}

export const sharedOf = (kernel: KernelResources): number =>
  kernel.staticSharedBytes + kernel.dynamicSharedBytes

/**
 * Returns the kernel with a different amount of shared memory. The amount of static shared memory
 * is kept if possible.
 */
export function withShared(kernel: KernelResources, bytes: number): KernelResources {
  const staticSharedBytes = Math.min(kernel.staticSharedBytes, bytes)
  return { ...kernel, staticSharedBytes, dynamicSharedBytes: bytes - staticSharedBytes }
}

// If the kernel uses less shared memory, the driver may select a different carve-out. The largest
// carve-out is always available.
const free = ({ carveOutBytes: _, ...kernel }: KernelResources): KernelResources => kernel

const limitOf = (limits: SmLimits, kernel: KernelResources, name: OccupancyLimiter): number =>
  occupancy(limits, kernel).limits[name] ?? Infinity

/**
 * Returns the maximum number of registers per thread at which `blocks` blocks fit, regardless of
 * the other resources. Returns 0 if no register count is small enough.
 */
function registersFor(limits: SmLimits, kernel: KernelResources, blocks: number): number {
  for (let registers = kernel.registers; registers >= 1; registers -= 1)
    if (limitOf(limits, { ...kernel, registers }, 'registers') >= blocks) return registers
  return 0
}

/**
 * Returns the maximum shared memory per block, in bytes, at which `blocks` blocks fit. Returns null
 * if even 0 bytes are too many.
 */
function sharedFor(limits: SmLimits, kernel: KernelResources, blocks: number): number | null {
  const share = Math.floor(limits.sharedPerSm / blocks / limits.sharedGranularity)
  const bytes = share * limits.sharedGranularity - limits.sharedReserved
  return bytes < 0 ? null : Math.min(bytes, sharedOf(kernel))
}

/**
 * Returns the changes to registers and shared memory that allow one more resident block, or null if
 * no such changes exist.
 */
function oneMoreBlock(limits: SmLimits, kernel: KernelResources): OccupancyAdvice | null {
  const blocks = occupancy(limits, kernel).blocksPerSm + 1
  if ((['warps', 'blocks', 'barriers'] as const).some((it) => limitOf(limits, kernel, it) < blocks))
    return null
  const registers = registersFor(limits, kernel, blocks)
  const shared = sharedFor(limits, kernel, blocks)
  if (registers === 0 || shared === null) return null
  const changed = withShared({ ...kernel, registers }, shared)
  const then = occupancy(limits, changed)
  const changes: ResourceChange[] = []
  if (registers !== kernel.registers)
    changes.push({ resource: 'registers', from: kernel.registers, to: registers })
  if (shared !== sharedOf(kernel))
    changes.push({ resource: 'shared', from: sharedOf(kernel), to: shared })
  return { changes, blocksPerSm: then.blocksPerSm, percent: then.percent }
}

/**
 * Returns the nearest smaller and the nearest larger block size with a higher occupancy. Both block
 * sizes are multiples of the warp size. Other resources do not change.
 */
function otherBlockSizes(limits: SmLimits, kernel: KernelResources): OccupancyAdvice[] {
  const now = occupancy(limits, kernel).percent
  const find = (from: number, step: number): OccupancyAdvice[] => {
    for (
      let threads = from;
      threads >= warpSize && threads <= threadsPerBlockMax;
      threads += step
    ) {
      const { percent, blocksPerSm } = occupancy(limits, { ...kernel, threads })
      if (percent > now + 1e-9)
        return [
          {
            changes: [{ resource: 'threads', from: kernel.threads, to: threads }],
            blocksPerSm,
            percent,
          },
        ]
    }
    return []
  }
  const below = Math.ceil(kernel.threads / warpSize) * warpSize - warpSize
  const above = (Math.floor(kernel.threads / warpSize) + 1) * warpSize
  return [...find(below, -warpSize), ...find(above, warpSize)]
}

/**
 * Returns the smallest changes that increase occupancy. Fewer registers or less shared memory can
 * allow one more block. A different block size can also increase occupancy. The list is empty if
 * occupancy is already 100 % or if no change increases it. The advice does not consider whether the
 * kernel can run with so few registers, or whether higher occupancy makes the kernel faster.
 */
export function occupancyAdvice(limits: SmLimits, kernel: KernelResources): OccupancyAdvice[] {
  const own = free(kernel)
  const now = occupancy(limits, own)
  if (now.percent >= 100) return []
  const more = now.unlaunchable ? null : oneMoreBlock(limits, own)
  return [...(more ? [more] : []), ...otherBlockSizes(limits, own)]
}

export interface CurvePoint {
  /** Threads per block, registers per thread, or bytes of shared memory per block. */
  x: number
  percent: number
  blocksPerSm: number
}

const steps = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)

/**
 * Returns the occupancy over the full range of one resource. The other resources are the same as in
 * `kernel`.
 */
export function occupancyCurve(
  limits: SmLimits,
  kernel: KernelResources,
  resource: ResourceChange['resource'],
): CurvePoint[] {
  const own = free(kernel)
  const at: Record<
    ResourceChange['resource'],
    { xs: number[]; of: (x: number) => KernelResources }
  > = {
    threads: {
      xs: steps(warpSize, threadsPerBlockMax, warpSize),
      of: (threads) => ({ ...own, threads }),
    },
    registers: {
      xs: steps(1, registersPerThreadMax, 1),
      of: (registers) => ({ ...own, registers }),
    },
    shared: {
      xs: steps(0, limits.sharedPerBlock, 1024),
      of: (bytes) => withShared(own, bytes),
    },
  }
  const { xs, of } = at[resource]
  return xs.map((x) => {
    const { percent, blocksPerSm } = occupancy(limits, of(x))
    return { x, percent, blocksPerSm }
  })
}
