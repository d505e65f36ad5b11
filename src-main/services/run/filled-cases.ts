/** Fills the cases' buffers with their initial contents. Each case is filled only once. */
import { fillCase, type FilledBuffer } from '../../adapters/emulator/fill-case'
import type { Case } from '../../domain/task/problem'
import { tooMuchMemory, type EmulationSettings, type Filled } from './emulate'
import { computeArrays } from './reference-arrays'

/** Tools that compute inputs from other inputs. */
interface InputTools {
  bench: EmulationSettings
  /** Path of the task's built reference, or null if no input is computed. */
  library: string | null
}

/** Returns a function that fills buffers. `tools` is awaited only if the task computes inputs. */
export function sharedFills(
  { task, taskFolder, seed: usual }: Omit<EmulationSettings, 'probe'>,
  tools: () => Promise<InputTools> | InputTools,
): Filled {
  const kept = new Map<string, Promise<readonly FilledBuffer[]>>()
  const fill = async (own: Case, seed: number): Promise<readonly FilledBuffer[]> => {
    const buffers = await fillCase(task, own, taskFolder, seed)
    const computed = buffers.filter(({ fill: by }) => by?.kind === 'computed')
    if (computed.length === 0) return buffers
    const { bench, library } = await tools()
    const { arrays } = await computeArrays(bench, library!, own, buffers, 'kl_inputs')
    for (const { name, contents } of computed) contents!.set(arrays.get(`in:${name}`)!)
    return buffers
  }
  return async (own, rung, workspaceBytes, seed = usual) => {
    const tooMuch = tooMuchMemory(task, own, rung, workspaceBytes)
    if (tooMuch) return tooMuch
    const key = JSON.stringify([own.sizes, own.scalars, own.options, own.flags, seed])
    const found = kept.get(key) ?? fill(own, seed)
    kept.set(key, found)
    return found
  }
}
