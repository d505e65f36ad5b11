/** The architecture for build-only compilation: this machine's GPU, or that of the recordings. */
import { readSharedFiles } from '../../adapters/kernels/kernel-library'
import { buildRunner } from './build'
import type { Compiler } from './compiler'
import { architectureFor, queryDevice, smOf } from './device'

/** The architecture of the recordings' GPU. */
export const recordedArchitecture = '90'

/** The architecture of the machine's GPU; null if CUDA offers none. `root` is that of the kernel library. */
export async function ownArchitecture(compiler: Compiler, root: string): Promise<string | null> {
  // The runner takes a minute to build and is of no use without a driver.
  if ((await compiler.toolbox.locate('nvidia-smi')) === null) return null
  try {
    const runner = await buildRunner(compiler, await readSharedFiles(root, 'runner'))
    const { device } = await queryDevice(compiler.toolbox, runner, null, compiler.signal)
    return smOf(device)
  } catch {
    return null
  }
}

const digits = (architecture: string): string => architecture.replace(/\D/g, '')

/** `90` → `9.0`, `100` → `10.0`. */
export const capabilityOf = (architecture: string): string =>
  digits(architecture).replace(/^(\d+)(\d)$/, '$1.$2')

/** The architecture to compile for, such as `90a` if a source requires it. */
export function builtArchitecture(requires: string | null, own: string | null): string {
  const chosen = architectureFor(requires, {
    name: 'this GPU',
    computeCapability: capabilityOf(own ?? recordedArchitecture),
  })
  // The code can be compiled even if the GPU is too old for it.
  return 'sm' in chosen ? chosen.sm : requires!.replace('sm_', '')
}
