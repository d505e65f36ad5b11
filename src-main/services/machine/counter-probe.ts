/**
 * Asks ncu for one counter of one small kernel: whether counters can be read here is best known by
 * reading one. What ncu says when it cannot is recognised, and comes with its remedy.
 */
import { readSharedFiles } from '../../adapters/kernels/kernel-library'
import { probeNcu } from '../../adapters/tools/ncu'
import type { Statement } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'
import { buildRunner } from '../run/build'
import { openCompiler, type Bench } from '../run/compiler'

export interface CounterProbe extends Bench {
  kernelsDir: string
  ncu: string
}

/** Null: a counter was read. Else why not, and what to do. */
export async function probeCounters(
  probe: CounterProbe,
): Promise<{ message: Statement; remedy?: Statement } | null> {
  const { toolbox, cache, kernelsDir, ncu } = probe
  try {
    const compiler = await openCompiler(
      { toolbox, cache },
      await readSharedFiles(kernelsDir, 'include'),
    )
    const runner = await buildRunner(compiler, await readSharedFiles(kernelsDir, 'runner'))
    return await probeNcu(toolbox, ncu, runner)
  } catch (error) {
    const { message, remedy } = toErrorShape(error)
    return { message, ...(remedy ? { remedy } : {}) }
  }
}
