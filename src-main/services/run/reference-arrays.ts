/**
 * Runs a function of a task's reference without a GPU, either on this machine or on the emulated
 * GPU.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sourceName } from '../../adapters/disk/build-cache'
import type { FilledBuffer } from '../../adapters/emulator/fill-case'
import { readModules } from '../../adapters/tools/built-code'
import {
  probeExpectation,
  type Launched,
  type ReferenceStage,
} from '../../adapters/tools/launch-probe'
import { stopReason } from '../../domain/emulation/findings'
import { KernelLadderError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { MachineCode } from '../../domain/sass/machine-code'
import { dtypeOf } from '../../domain/task/dtype'
import { buffersOf, referenceLayout } from '../../domain/task/layout'
import type { Case } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { jobOf, layoutsOf, placesOf, requireRunning, type EmulationSettings } from './emulate'

export const unusable = (why: Statement): KernelLadderError =>
  new KernelLadderError('failed', message('emulation.referenceUnusable', { why }))

interface ReferenceArray {
  /** The array's name, such as `in:a`, `out:c`, `scale:c`, or `mask:c`. */
  what: string
  bytes: number
  /** The array's contents, or null if the function writes the array. */
  contents: Uint8Array | null
}

/** Returns the arrays that the reference stage reads and writes. */
function arraysOf(
  task: Task,
  own: Case,
  buffers: readonly FilledBuffer[],
  stage: ReferenceStage,
): ReferenceArray[] {
  const known = new Set(buffersOf(task, own).map(({ name }) => name))
  return referenceLayout(task).fields.flatMap(({ filled }): ReferenceArray[] => {
    const { kind } = filled
    if (kind !== 'in' && kind !== 'out' && kind !== 'scale' && kind !== 'mask') return []
    if (!known.has(filled.name)) return []
    const { bytes, contents, dtype, fill } = buffers.find(({ name }) => name === filled.name)!
    const what = `${kind}:${filled.name}`
    if (kind === 'in') {
      const isWritten = stage === 'kl_inputs' && fill?.kind === 'computed'
      return contents ? [{ what, bytes, contents: isWritten ? null : contents }] : []
    }
    if (stage === 'kl_inputs') return []
    const check = task.check[filled.name]
    const exact = kind === 'out' && check !== undefined && 'exact' in check
    const elementBytes = exact ? dtypeOf(dtype).bytes : kind === 'mask' ? 1 : 8
    return [{ what, bytes: (bytes / dtypeOf(dtype).bytes) * elementBytes, contents: null }]
  })
}

interface ComputedArrays {
  /** Arrays that the stage wrote, by name. */
  arrays: ReadonlyMap<string, Uint8Array>
  /** Whether the emulated GPU computed the arrays. */
  emulated: boolean
}

/** Computes the arrays. Throws an error if the reference is unusable or the run is canceled. */
export async function computeArrays(
  bench: EmulationSettings,
  library: string,
  own: Case,
  buffers: readonly FilledBuffer[],
  stage: ReferenceStage,
): Promise<ComputedArrays> {
  const { toolbox, task, gpu, probe, signal } = bench
  const scratch = await toolbox.scratch()
  try {
    const arrays = arraysOf(task, own, buffers, stage).map((array, index) => ({
      ...array,
      path: join(scratch.path, `array-${index}`),
    }))
    for (const { path, contents, bytes } of arrays)
      await writeFile(path, contents ?? new Uint8Array(bytes).fill(0xff))
    const modules = await readModules(toolbox, library)
    const left = await probeExpectation(toolbox, {
      ...{ probe, library, stage, task, own, gpu, signal, arrays },
      layouts: layoutsOf(modules),
    })
    requireRunning(signal)
    if (left && 'reason' in left) throw unusable(left.reason)
    if (left) return { arrays: await emulatedArrays(bench, modules, left, arrays), emulated: true }
    const written = arrays.filter(({ contents }) => contents === null)
    const read = written.map(async ({ what, path }) => [what, await readFile(path)] as const)
    return { arrays: new Map(await Promise.all(read)), emulated: false }
  } finally {
    await scratch.remove()
  }
}

async function emulatedArrays(
  { pool }: EmulationSettings,
  modules: readonly MachineCode[],
  launched: Launched,
  arrays: readonly ReferenceArray[],
): Promise<Map<string, Uint8Array>> {
  const { outputs, stop } = await pool.run({
    ...jobOf(
      modules,
      launched,
      arrays.map(({ what, bytes, contents }) => ({
        name: what,
        bytes,
        contents,
        writable: contents === null,
      })),
    ),
    limit: 1e10,
  })
  if (stop)
    throw unusable(stopReason(stop, placesOf(modules, launched)?.[stop.launch ?? -1], sourceName))
  return outputs
}
