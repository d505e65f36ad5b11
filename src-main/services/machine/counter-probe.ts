/**
 * Asks ncu for one counter of one small kernel: the best way to know whether counters can be read is to read one.
 * ncu's error, if any, is recognized and comes with its remedy.
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

/** Null if a counter was read; else the reason and the remedy. */
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
