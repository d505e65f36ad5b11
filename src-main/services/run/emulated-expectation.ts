/**
 * Computes the expected results for a rung on the emulated GPU. A trusted rung or the task's
 * reference provides these results. The reference runs on the host or on the emulated GPU.
 */
import type { FilledBuffer } from '../../adapters/emulator/fill-case'
import {
  firstNan,
  toDoubles,
  verify,
  type CheckedOutput,
  type CheckRule,
} from '../../domain/emulation/check'
import type { EmulationAnswer } from '../../domain/emulation/job'
import { message, type Statement } from '../../domain/messages/message'
import type { Verify } from '../../domain/session/session'
import { caseName } from '../../domain/task/layout'
import { hasSpecials, valueOf, type Case } from '../../domain/task/problem'
import { elementPlace, type Task } from '../../domain/task/task'
import type { EmulationSettings, ReadyRung } from './emulate'
import { computeArrays, unusable } from './reference-arrays'

export interface Expectation {
  values: ReadonlyMap<string, Uint8Array>
  scales: ReadonlyMap<string, Uint8Array>
  /** Masks by buffer. In a mask, elements that are not compared are 0. */
  masks: ReadonlyMap<string, Uint8Array>
  /** Describes the source of the expected results. */
  from: Statement
}

/**
 * Returns the expected results, computed by the reference. Throws an error if the reference is
 * unusable or the run is canceled.
 */
export async function expectedOf(
  bench: EmulationSettings,
  library: string,
  own: Case,
  buffers: readonly FilledBuffer[],
): Promise<Expectation> {
  const { arrays, emulated } = await computeArrays(bench, library, own, buffers, 'kl_reference')
  const named = (kind: string) =>
    new Map(
      [...arrays].flatMap(([what, bytes]) =>
        what.startsWith(kind) ? [[what.slice(kind.length), bytes] as const] : [],
      ),
    )
  const expectation = {
    values: named('out:'),
    scales: named('scale:'),
    masks: named('mask:'),
    from: message(emulated ? 'emulation.fromEmulated' : 'emulation.fromHost'),
  }
  requireCounting(expectation)
  if (!hasSpecials(bench.task, own)) requireNumbers(bench.task, buffers, expectation)
  return expectation
}

/** Throws an error if a mask excludes every element, because the comparison would check nothing. */
function requireCounting({ masks }: Expectation): void {
  for (const [name, mask] of masks)
    if (mask.every((counts) => counts === 0))
      throw unusable(message('emulation.maskedAll', { name }))
}

function requireNumbers(
  task: Task,
  buffers: readonly FilledBuffer[],
  { values, scales, masks }: Expectation,
): void {
  for (const [name, doubles] of [...values, ...scales]) {
    const check = task.check[name]
    if (check && 'exact' in check) continue
    const at = firstNan(doubles, masks.get(name))
    if (at === null) continue
    const { shape } = buffers.find((buffer) => buffer.name === name)!
    const index = shape.map((extent, dimension) => {
      const below = shape.slice(dimension + 1).reduce((product, one) => product * one, 1)
      return Math.floor(at / below) % extent
    })
    throw unusable(message('emulation.referenceNaN', { place: elementPlace(task, name, index) }))
  }
}

/** Converts the results of a trusted rung to expected results. */
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
  masks: new Map(),
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

/** Compares a rung's results with the expected results. */
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
            mask: expected.masks.get(name) ?? null,
            special: hasSpecials(task, own),
          },
        ]
      : []
  })
  return verify(checked, { outOfBounds: [], changedInputs })
}

/**
 * Returns a function that returns the expected results for a case and computes each case only once.
 */
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
