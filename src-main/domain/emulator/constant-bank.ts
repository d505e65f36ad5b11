/** Constant bank 0 of a launch, which contains the dimensions, parameters and driver values. */
import { localHigh, parameterHigh } from './device'
import type { Extent } from './special-registers'

export interface LaunchBank {
  /** Compute capability times ten, for example 90 for sm_90. */
  architecture: number
  grid: Extent
  block: Extent
  /** Kernel arguments in the kernel's parameter layout. */
  parameters: Uint8Array
  localBytes: number
  /** Number of blocks per cluster along x. The default of 1 means no clusters. */
  clusterBlocks?: number
}

/**
 * Returns constant bank 0 as filled by the driver: dimensions, end of the stack, and parameters.
 */
export function launchBank({
  architecture,
  grid,
  block,
  parameters,
  localBytes,
  clusterBlocks = 1,
}: LaunchBank): Uint8Array {
  const base = architecture >= 90 ? 0x210 : 0x160
  const bank = new Uint8Array(base + parameters.length + 16)
  const view = new DataView(bank.buffer)
  ;[...block, ...grid].forEach((extent, index) => view.setUint32(4 * index, extent, true))
  // Write the start of local memory in the generic address space, and the end of a thread's stack.
  view.setUint32(0x24, localHigh, true)
  view.setUint32(0x28, localBytes, true)
  // Write the generic address of the parameters.
  if (architecture >= 90) {
    view.setUint32(0x198, base, true)
    view.setUint32(0x19c, parameterHigh, true)
    // Write each cluster extent's float reciprocal, which the kernel multiplies by the block index
    // to compute %clusterid.
    const cluster = [clusterBlocks, 1, 1]
    for (const [axis, blocks] of cluster.entries()) {
      view.setUint32(0x144 + 4 * axis, blocks, true)
      view.setFloat32(0x150 + 4 * axis, 1 / blocks, true)
      view.setUint32(0x15c + 4 * axis, grid[axis]! / blocks, true)
    }
    view.setUint32(0x188, clusterBlocks, true)
  }
  bank.set(parameters, base)
  return bank
}
