/**
 * Finds errors in a task's expressions at one problem, such as fractional extents and values that
 * are not numbers.
 */
import { brokenConstraints, bufferDtype, named, specialOf, valueOf, type Case } from './problem'
import { dtypeOf, type Dtype } from './dtype'
import { fillValues, type Formula, type Task, type TaskFill } from './task'
import { inputError } from '../errors'
import { message } from '../messages/message'
import { place, type TaskFault, type Report } from './faults'

/**
 * Maximum size of a buffer in bytes. The limit is larger than any GPU's memory. Byte counts up to
 * this size are exact in a double.
 */
const mostBytes = 2 ** 48

/** Returns the value of an expression. Reports an error if the value is not finite. */
function numberAt(
  task: Task,
  own: Case,
  path: TaskFault['path'],
  formula: Formula,
  report: Report,
): number | null {
  const value = valueOf(task, own, formula)
  const what = typeof formula === 'number' ? String(formula) : formula
  if (value === null) report(path, message('task.notFinite', { what }))
  return value
}

/** Checks that an expression's value is finite and not negative. */
function amountAt(...[task, own, path, formula, report]: Parameters<typeof numberAt>) {
  const value = numberAt(task, own, path, formula, report)
  if (value !== null && value < 0) report(path, message('task.negative', { what: formula, value }))
}

function checkFillAt(
  task: Task,
  own: Case,
  path: TaskFault['path'],
  fill: TaskFill,
  dtype: Dtype,
  report: Report,
): void {
  const { isFloat, least, most } = dtypeOf(dtype)
  const values = fillValues(fill).map(([key, formula]) => {
    const value = numberAt(task, own, [...path, key], formula, report)
    const fits = value === null || (Number.isInteger(value) && value >= least && value <= most)
    if (!isFloat && !fits)
      report([...path, key], message('task.notOfType', { value, dtype, least, most }))
    return value ?? NaN
  })
  const special = specialOf(task, own, fill)
  if (special < 0 || !Number.isInteger(special))
    report([...path, 'special'], message('task.special', { value: special }))
  const [lo = NaN, hi = NaN] = values
  if (fill.kind === 'uniform' && (isFloat ? lo >= hi : lo > hi))
    report([...path, 'hi'], message('task.range', { lo, hi }))
}

function checkShape(
  task: Task,
  own: Case,
  [name, { shape }]: [string, Task['buffers'][string]],
  dtype: Dtype,
  report: Report,
): void {
  let bytes: number = dtypeOf(dtype).bytes
  for (const [index, formula] of shape.entries()) {
    const path = ['buffers', name, 'shape', index]
    const extent = numberAt(task, own, path, formula, report)
    if (extent === null) return
    if (!Number.isInteger(extent) || extent < 1) {
      report(path, message('task.extent', { what: formula, value: extent }))
      return
    }
    bytes *= extent
  }
  if (bytes > mostBytes)
    report(
      ['buffers', name, 'shape'],
      message('task.tooLarge', { name, size: (bytes / 2 ** 40).toFixed(0) }),
    )
  const { fill } = task.buffers[name]!
  if (fill) checkFillAt(task, own, ['buffers', name, 'fill'], fill, dtype, report)
  const { bytes: element, isFloat, most } = dtypeOf(dtype)
  if (fill?.kind === 'permutation' && !isFloat && bytes / element - 1 > most)
    report(
      ['buffers', name, 'fill'],
      message('task.permutation', { count: bytes / element, dtype }),
    )
}

/** Returns all errors at this problem. The list is empty if the runner can execute the problem. */
export function problemFaults(task: Task, own: Case): TaskFault[] {
  const faults: TaskFault[] = []
  const at = named({ ...own.sizes, ...own.scalars })
  const report: Report = (path, fault) =>
    faults.push({ path, message: message('task.at', { at, fault }) })
  const broken = brokenConstraints(task, own)
  for (const [index, what] of (task.constraints ?? []).entries())
    if (broken.includes(what)) report(['constraints', index], message('task.broken', { what }))
  for (const entry of Object.entries(task.buffers)) {
    const [, { when, dtype: word }] = entry
    if (when !== undefined && !own.flags.includes(when)) continue
    const dtype = bufferDtype(word, own.options)
    if (dtype !== null) checkShape(task, own, entry, dtype, report)
  }
  for (const [name, check] of Object.entries(task.check))
    for (const key of ['bound', 'rtol', 'atol'] as const) {
      const formula = (check as Partial<Record<typeof key, Formula>>)[key]
      if (formula !== undefined) amountAt(task, own, ['check', name, key], formula, report)
    }
  for (const key of ['flops', 'reads', 'writes'] as const) {
    const formula = task.work[key]
    if (formula !== undefined) amountAt(task, own, ['work', key], formula, report)
  }
  return faults
}

/** Throws an input error for a problem that the runner cannot execute. */
export function requireProblem(task: Task, own: Case): void {
  const [first] = problemFaults(task, own)
  if (first)
    throw inputError(
      message('asked.impossible', {
        task: task.id,
        place: place(first.path),
        text: first.message,
      }),
      message('asked.otherValues'),
    )
}
