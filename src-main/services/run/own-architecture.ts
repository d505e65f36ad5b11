/** What code is compiled for where nobody says: the GPU of this machine. */
import { buildRunner } from './build'
import type { Compiler } from './compiler'
import { queryDevice, smOf } from './device'

/** `90`; null where CUDA offers no GPU. `runnerSources`: runner/ of the kernel library, text by path. */
export async function ownArchitecture(
  compiler: Compiler,
  runnerSources: ReadonlyMap<string, string>,
): Promise<string | null> {
  try {
    const runner = await buildRunner(compiler, runnerSources)
    const { device } = await queryDevice(compiler.toolbox, runner, null, compiler.signal)
    return smOf(device)
  } catch {
    return null
  }
}
