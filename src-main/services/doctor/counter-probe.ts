/**
 * Reads one counter for a small kernel to test whether counters are accessible.
 *
 * For known ncu errors, the result includes a remedy.
 */
import { Bench } from '../bench/bench'
import type { BuildTools } from '../bench/compiler'
import { probeNcu } from '../../adapters/tools/ncu'
import type { Statement } from '../../domain/messages/message'
import { toErrorShape } from '../../domain/errors'

interface CounterProbe extends BuildTools {
  kernelsDir: string
  ncu: string
}

/**
 * Returns null if a counter was read. Otherwise, returns the reason that counters are inaccessible,
 * and a remedy if known.
 */
export async function probeCounters(
  probe: CounterProbe,
): Promise<{ message: Statement; remedy?: Statement } | null> {
  const { toolbox, cache, kernelsDir, ncu } = probe
  try {
    const bench = await Bench.open({ toolbox, cache }, { root: kernelsDir, references: new Map() })
    return await probeNcu(toolbox, ncu, await bench.runner())
  } catch (error) {
    const { message, remedy } = toErrorShape(error)
    return { message, ...(remedy ? { remedy } : {}) }
  }
}
