/**
 * Asks ncu for one counter of one small kernel: whether counters can be read here is best known by
 * reading one. What ncu says when it cannot is recognised, and comes with its remedy.
 */
import type { BuildCache } from '../../adapters/disk/build-cache'
import { readSharedFiles } from '../../adapters/kernels/kernel-library'
import { probeNcu } from '../../adapters/tools/ncu'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { Statement } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'
import { buildRunner } from '../run/build'

export interface CounterProbe {
  toolbox: Toolbox
  cache: BuildCache
  kernelsDir: string
  nvcc: string
  ncu: string
}

/** Null: a counter was read. Else why not, and what to do. */
export async function probeCounters(
  probe: CounterProbe,
): Promise<{ message: Statement; remedy?: Statement } | null> {
  const { toolbox, cache, kernelsDir, nvcc, ncu } = probe
  try {
    const version = await cache.compilerVersion(nvcc, async () => {
      const args = ['--version']
      const call = {
        tool: 'nvcc',
        key: 'nvcc/version',
        file: nvcc,
        args,
        timeoutMs: 60_000,
      } as const
      return (await toolbox.exec(call)).stdout
    })
    const runner = await buildRunner(
      {
        toolbox,
        cache,
        recorder: null,
        nvcc,
        version,
        includes: await readSharedFiles(kernelsDir, 'include'),
        signal: new AbortController().signal,
      },
      await readSharedFiles(kernelsDir, 'runner'),
    )
    return await probeNcu(toolbox, ncu, runner)
  } catch (error) {
    const { message, remedy } = toErrorShape(error)
    return { message, ...(remedy ? { remedy } : {}) }
  }
}
