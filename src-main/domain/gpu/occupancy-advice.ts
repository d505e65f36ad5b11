/** How to raise a kernel's occupancy, and its occupancy as a function of each resource. */
import { registersPerThreadMax, threadsPerBlockMax, warpSize, type SmLimits } from './sm-limits'
import { occupancy, type KernelResources, type OccupancyLimiter } from './occupancy'

/** One resource value that, together with the others of the same advice, yields `blocksPerSm`. */
export interface ResourceChange {
  resource: 'registers' | 'shared' | 'threads'
  from: number
  /** The nearest value that suffices: registers per thread, bytes of shared memory, or threads per block. */
  to: number
}

interface OccupancyAdvice {
  /** Needed together. */
  changes: ResourceChange[]
  blocksPerSm: number
  percent: number
}

export const sharedOf = (kernel: KernelResources): number =>
  kernel.staticSharedBytes + kernel.dynamicSharedBytes

/** The kernel with another amount of shared memory; the static part is kept if possible. */
export function withShared(kernel: KernelResources, bytes: number): KernelResources {
  const staticSharedBytes = Math.min(kernel.staticSharedBytes, bytes)
  return { ...kernel, staticSharedBytes, dynamicSharedBytes: bytes - staticSharedBytes }
}

// With a smaller demand the driver may also pick another carve-out; the largest is always available.
const free = ({ carveOutBytes: _, ...kernel }: KernelResources): KernelResources => kernel

const limitOf = (limits: SmLimits, kernel: KernelResources, name: OccupancyLimiter): number =>
  occupancy(limits, kernel).limits[name] ?? Infinity

/** The maximum registers per thread for which `blocks` fit by registers; 0 if there is none. */
function registersFor(limits: SmLimits, kernel: KernelResources, blocks: number): number {
  for (let registers = kernel.registers; registers >= 1; registers -= 1)
    if (limitOf(limits, { ...kernel, registers }, 'registers') >= blocks) return registers
  return 0
}

/** The maximum shared memory per block for which `blocks` fit, in bytes; null if even 0 is too much. */
function sharedFor(limits: SmLimits, kernel: KernelResources, blocks: number): number | null {
  const share = Math.floor(limits.sharedPerSm / blocks / limits.sharedGranularity)
  const bytes = share * limits.sharedGranularity - limits.sharedReserved
  return bytes < 0 ? null : Math.min(bytes, sharedOf(kernel))
}

/** The registers and shared memory that would allow one more resident block; null if neither can. */
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

/** The nearest whole-warp block sizes on either side with a higher occupancy, all else unchanged. */
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
 * The smallest changes that raise the occupancy: one more block through fewer registers or less shared memory,
 * or another block size. Empty at 100 % and if no single change helps. Whether a kernel can be written with so
 * few registers, and benefits, is another question.
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

/** Occupancy over the full range of one resource, with the others as in `kernel`. */
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
