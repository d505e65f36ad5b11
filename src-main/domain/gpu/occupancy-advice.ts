/** What would let an SM hold more of a kernel, and how its occupancy goes with each resource. Pure. */
import { occupancy, type KernelResources, type OccupancyLimiter } from './occupancy'
import { registersPerThreadMax, threadsPerBlockMax, warpSize, type SmLimits } from './sm-limits'

/** One resource at a value that, with the others of the same advice, gives `blocksPerSm`. */
export interface ResourceChange {
  resource: 'registers' | 'shared' | 'threads'
  from: number
  /** The nearest value that does it: registers a thread, bytes of shared memory, or threads a block. */
  to: number
}

export interface OccupancyAdvice {
  /** Needed together. */
  changes: ResourceChange[]
  blocksPerSm: number
  percent: number
}

export const sharedOf = (kernel: KernelResources): number =>
  kernel.staticSharedBytes + kernel.dynamicSharedBytes

/** The kernel with another amount of shared memory; what is static stays so where it can. */
export function withShared(kernel: KernelResources, bytes: number): KernelResources {
  const staticSharedBytes = Math.min(kernel.staticSharedBytes, bytes)
  return { ...kernel, staticSharedBytes, dynamicSharedBytes: bytes - staticSharedBytes }
}

// A smaller demand may also let the driver pick another carve-out; the largest is always there.
const free = ({ carveOutBytes: _, ...kernel }: KernelResources): KernelResources => kernel

const limitOf = (limits: SmLimits, kernel: KernelResources, name: OccupancyLimiter): number =>
  occupancy(limits, kernel).limits[name] ?? Infinity

/** The most registers a thread may have for `blocks` to fit by their registers; 0 when none do. */
function registersFor(limits: SmLimits, kernel: KernelResources, blocks: number): number {
  for (let registers = kernel.registers; registers >= 1; registers -= 1)
    if (limitOf(limits, { ...kernel, registers }, 'registers') >= blocks) return registers
  return 0
}

/** The most shared memory a block may have for `blocks` to fit, bytes; null when even none is too much. */
function sharedFor(limits: SmLimits, kernel: KernelResources, blocks: number): number | null {
  const share = Math.floor(limits.sharedPerSm / blocks / limits.sharedGranularity)
  const bytes = share * limits.sharedGranularity - limits.sharedReserved
  return bytes < 0 ? null : Math.min(bytes, sharedOf(kernel))
}

/** What one more resident block needs of registers and shared memory; null where neither can bring it. */
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
 * The least changes that raise the occupancy: one more block by fewer registers or less shared memory,
 * or another block size. Empty at 100 % and where nothing of this does it. Whether a kernel can be
 * written with so few registers, and gains by it, is another question.
 */
export function occupancyAdvice(limits: SmLimits, kernel: KernelResources): OccupancyAdvice[] {
  const own = free(kernel)
  const now = occupancy(limits, own)
  if (now.percent >= 100) return []
  const more = now.unlaunchable ? null : oneMoreBlock(limits, own)
  return [...(more ? [more] : []), ...otherBlockSizes(limits, own)]
}

export interface CurvePoint {
  /** Threads a block, registers a thread, or bytes of shared memory a block. */
  x: number
  percent: number
  blocksPerSm: number
}

const steps = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)

/** Occupancy against one resource over all it can be, the others as in `kernel`. */
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
