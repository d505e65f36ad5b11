/**
 * What the results of a rung on the emulated GPU are held against: what the task's reference computes, on the host or on the
 * emulated GPU too, or a trusted rung.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sourceName } from '../../adapters/disk/build-cache'
import {
  firstNan,
  toDoubles,
  verify,
  type CheckedOutput,
  type CheckRule,
} from '../../domain/emulation/check'
import { stopReason } from '../../domain/emulation/findings'
import type { EmulationAnswer } from '../../domain/emulation/job'
import { KernelLadderError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { MachineCode } from '../../domain/sass/machine-code'
import type { Verify } from '../../domain/session/session'
import { dtypeOf } from '../../domain/task/dtype'
import { buffersOf, caseName, referenceLayout } from '../../domain/task/layout'
import { hasSpecials, valueOf, type Case } from '../../domain/task/problem'
import { elementPlace, type Task } from '../../domain/task/task'
import {
  jobOf,
  layoutsOf,
  placesOf,
  requireRunning,
  type EmulationSettings,
  type ReadyRung,
} from './emulate'
import type { FilledBuffer } from '../../adapters/emulator/fill-case'
import { readModules } from '../../adapters/tools/built-code'
import { probeExpectation, type Launched } from '../../adapters/tools/launch-probe'

export interface Expectation {
  values: ReadonlyMap<string, Uint8Array>
  scales: ReadonlyMap<string, Uint8Array>
  /** Who computed it. */
  from: Statement
}

/** Of a reference in the library; throws where it cannot be used, and when cancelled. */
export async function expectedOf(
  bench: EmulationSettings,
  library: string,
  own: Case,
  buffers: readonly FilledBuffer[],
): Promise<Expectation> {
  const { toolbox, task, gpu, probe, signal } = bench
  const scratch = await toolbox.scratch()
  try {
    const arrays = arraysOf(task, own, buffers).map((array, index) => ({
      ...array,
      path: join(scratch.path, `array-${index}`),
    }))
    for (const { path, contents, bytes } of arrays)
      await writeFile(path, contents ?? new Uint8Array(bytes).fill(0xff))
    const modules = await readModules(toolbox, library)
    const left = await probeExpectation(toolbox, {
      ...{ probe, library, task, own, gpu, signal, arrays },
      layouts: layoutsOf(modules),
    })
    requireRunning(signal)
    if (left && 'reason' in left) throw unusable(left.reason)
    const read = left
      ? await emulatedArrays(bench, modules, left, arrays)
      : new Map(
          await Promise.all(
            arrays.map(async ({ what, path }) => [what, await readFile(path)] as const),
          ),
        )
    const named = (kind: string) =>
      new Map(
        arrays.flatMap(({ what }) =>
          what.startsWith(kind) ? [[what.slice(kind.length), read.get(what)!] as const] : [],
        ),
      )
    const expectation = {
      values: named('out:'),
      scales: named('scale:'),
      from: message(left ? 'emulation.fromEmulated' : 'emulation.fromHost'),
    }
    if (!hasSpecials(task, own)) requireNumbers(task, buffers, expectation)
    return expectation
  } finally {
    await scratch.remove()
  }
}

const unusable = (why: Statement): KernelLadderError =>
  new KernelLadderError('failed', message('emulation.referenceUnusable', { why }))

interface ReferenceArray {
  /** `in:a`, `out:c`, `scale:c` */
  what: string
  bytes: number
  contents: Uint8Array | null
}

function arraysOf(task: Task, own: Case, buffers: readonly FilledBuffer[]): ReferenceArray[] {
  const known = new Map(buffersOf(task, own).map(({ name }) => [name, true]))
  return referenceLayout(task).fields.flatMap(({ filled }): ReferenceArray[] => {
    const { kind } = filled
    if (kind !== 'in' && kind !== 'out' && kind !== 'scale') return []
    if (!known.has(filled.name)) return []
    const { bytes, contents, dtype } = buffers.find(({ name }) => name === filled.name)!
    const what = `${kind}:${filled.name}`
    if (kind === 'in') return contents ? [{ what, bytes, contents }] : []
    const check = task.check[filled.name]
    const exact = kind === 'out' && check !== undefined && 'exact' in check
    return [{ what, bytes: exact ? bytes : (bytes / dtypeOf(dtype).bytes) * 8, contents: null }]
  })
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

function requireNumbers(
  task: Task,
  buffers: readonly FilledBuffer[],
  { values, scales }: Expectation,
): void {
  for (const [name, doubles] of [...values, ...scales]) {
    const check = task.check[name]
    if (check && 'exact' in check) continue
    const at = firstNan(doubles)
    if (at === null) continue
    const { shape } = buffers.find((buffer) => buffer.name === name)!
    const index = shape.map((extent, dimension) => {
      const below = shape.slice(dimension + 1).reduce((product, one) => product * one, 1)
      return Math.floor(at / below) % extent
    })
    throw unusable(message('emulation.referenceNaN', { place: elementPlace(task, name, index) }))
  }
}

/** Of a trusted rung, which has run. */
export const trustedExpectation = (
  task: Task,
  { id, buffers }: ReadyRung,
  { outputs }: EmulationAnswer,
): Expectation => ({
  values: new Map(
    [...outputs].map(([name, bytes]) => {
      const check = task.check[name]
      const { dtype } = buffers.find((buffer) => buffer.name === name)!
      return [name, check && 'exact' in check ? bytes : toDoubles(bytes, dtype)]
    }),
  ),
  scales: new Map(),
  from: message('emulation.fromRung', { rung: id }),
})

function ruleOf(task: Task, own: Case, name: string): CheckRule | null {
  const check = task.check[name]
  if (!check) return null
  if ('exact' in check) return { kind: 'exact' }
  return 'scale' in check
    ? { kind: 'bound', bound: valueOf(task, own, check.bound)! }
    : {
        kind: 'tolerance',
        rtol: valueOf(task, own, check.rtol)!,
        atol: valueOf(task, own, check.atol)!,
      }
}

/** Holds what a rung computed against what is expected. */
export function verified(
  task: Task,
  { own, buffers }: ReadyRung,
  { outputs, changedInputs }: EmulationAnswer,
  expected: Expectation,
): Verify {
  const checked = buffers.flatMap(({ name, dtype, shape, access }): CheckedOutput[] => {
    const rule = access === 'in' ? null : ruleOf(task, own, name)
    const [actual, values] = [outputs.get(name), expected.values.get(name)]
    return rule && actual && values
      ? [
          {
            name,
            dtype,
            shape,
            rule,
            actual,
            expected: values,
            scale: expected.scales.get(name) ?? null,
            special: hasSpecials(task, own),
          },
        ]
      : []
  })
  return verify(checked, { outOfBounds: [], changedInputs })
}

/** Expectations by case, each computed once. */
export function sharedExpectations(
  compute: (own: Case) => Promise<Expectation>,
): (own: Case) => Promise<Expectation> {
  const kept = new Map<string, Promise<Expectation>>()
  return (own) => {
    const key = `${JSON.stringify([own.sizes, own.scalars])} ${caseName(own)}`
    const found = kept.get(key) ?? compute(own)
    kept.set(key, found)
    return found
  }
}
