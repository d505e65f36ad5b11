/**
 * Converts a case to arguments for the runner and the probe, which accept only numbers, names, and
 * files.
 */
import { join } from 'node:path'
import {
  buffersOf,
  caseName,
  flagNumber,
  launchLayout,
  optionNumber,
  referenceLayout,
  type CaseBuffer,
  type Field,
  type Layout,
} from '../../domain/task/layout'
import { valueOf, type Case } from '../../domain/task/problem'
import { fillValues, type Formula, type Task, type TaskFill } from '../../domain/task/task'

/**
 * Returns the `--field` argument's value for a field. Returns null if the field is 0 in the given
 * case.
 */
function contentOf(task: Task, own: Case, buffers: ReadonlySet<string>, { filled, bytes }: Field) {
  switch (filled.kind) {
    case 'size':
      return `i64:${own.sizes[filled.name]}`
    case 'scalar':
      return `${task.scalars[filled.name]!.dtype}:${own.scalars[filled.name]}`
    case 'option':
      return `i${8 * bytes}:${optionNumber(task, filled.name, own)}`
    case 'flag': {
      const number = flagNumber(task, filled.name, own)
      return number === null ? null : `i${8 * bytes}:${number}`
    }
    case 'buffer':
    case 'in':
    case 'out':
    case 'scale':
    case 'mask':
      return buffers.has(filled.name) ? `${filled.kind}:${filled.name}` : null
    default:
      return filled.kind
  }
}

const fieldWords = (
  option: '--field' | '--reference-field',
  task: Task,
  own: Case,
  { fields }: Layout,
): string[] => {
  const buffers = new Set(buffersOf(task, own).map(({ name }) => name))
  return fields.flatMap((field) => {
    const content = contentOf(task, own, buffers, field)
    return content === null ? [] : [option, `${field.offset}:${content}`]
  })
}

/**
 * Source of the expected results, which is a trusted rung or the task's built reference. `shown` is
 * the reference's name in messages.
 */
export type Expected = { library: string; shown: string } | { rung: string }

/**
 * Returns the argument that describes a buffer's initial contents. `folder` contains the task's
 * files, and is null in a replay.
 */
const fillWord = (task: Task, own: Case, fill: TaskFill, folder: string | null): string =>
  fill.kind === 'file'
    ? `file,${join(folder ?? '', fill.path)}`
    : [
        fill.kind,
        ...fillValues(fill).flatMap(([key, value]) => {
          const number = numberOf(task, own, value)
          return key === 'special' && number === 0 ? [] : number
        }),
      ].join(',')

const bufferWord = (
  task: Task,
  own: Case,
  { name, dtype, access, shape, fill }: CaseBuffer,
  folder: string | null,
): string => {
  const filled = fill ? [fillWord(task, own, fill, folder)] : []
  return [name, dtype, access, shape.join('x'), ...filled].join(':')
}

/** Evaluates a formula. Earlier checks rejected problems for which an expression is undefined. */
function numberOf(task: Task, own: Case, formula: Formula): number {
  const value = valueOf(task, own, formula)
  if (value === null)
    throw new Error(`The task ${task.id} has ${formula}, which does not evaluate to a number.`)
  return value
}

const checkWords = (task: Task, own: Case): string[] =>
  buffersOf(task, own).flatMap(({ name }) => {
    const check = task.check[name]
    if (!check) return []
    const number = (formula: Formula): number => numberOf(task, own, formula)
    const word =
      'exact' in check
        ? 'exact'
        : 'scale' in check
          ? `bound,${number(check.bound)}`
          : `tolerance,${number(check.rtol)},${number(check.atol)}`
    return ['--check', `${name}:${word}`]
  })

/**
 * Returns the arguments for the launch struct. The probe needs only the launch struct of a case.
 */
export function launchWords(task: Task, own: Case): string[] {
  const layout = launchLayout(task)
  return ['--struct', String(layout.bytes), ...fieldWords('--field', task, own, layout)]
}

/**
 * Returns the arguments for the reference's struct. The probe uses the reference's struct to
 * compute expected results.
 */
export function expectationWords(task: Task, own: Case): string[] {
  const layout = referenceLayout(task)
  return [...['--struct', String(layout.bytes)], ...fieldWords('--field', task, own, layout)]
}

const bufferWords = (task: Task, own: Case, folder: string | null): string[] => {
  const buffers = buffersOf(task, own)
  return [
    ...buffers.flatMap((buffer) => ['--buffer', bufferWord(task, own, buffer, folder)]),
    ...buffers.flatMap(({ name, stream }) => ['--stream', `${name}:${stream}`]),
  ]
}

const referenceWords = (task: Task, own: Case, expected: Expected): string[] => {
  if ('rung' in expected) return ['--reference-rung', expected.rung]
  const layout = referenceLayout(task)
  return [
    ...['--reference-library', expected.library, '--reference-struct', String(layout.bytes)],
    ...fieldWords('--reference-field', task, own, layout),
  ]
}

/**
 * Returns the arguments for a case. `expected` is null if results are not checked and the task
 * computes no inputs.
 */
export const caseWords = (
  task: Task,
  own: Case,
  expected: Expected | null,
  folder: string | null,
  checked = true,
): string[] => [
  ...['--case', caseName(own)],
  ...launchWords(task, own),
  ...(task.workspace === undefined ? [] : ['--workspace', task.workspace]),
  ...bufferWords(task, own, folder),
  ...(expected === null ? [] : referenceWords(task, own, expected)),
  ...(expected === null || !checked ? [] : checkWords(task, own)),
]
