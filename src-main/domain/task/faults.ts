/** Semantic faults of a task: unknown names, invalid expressions. */
import { bufferDtype, named, specialOf, valueOf, type Case } from './problem'
import { isPython } from './python'
import { dtypeOf, dtypes, isDtype, type Dtype } from './dtype'
import { ExpressionError, namesIn, parseExpression } from './expression'
import {
  expressionNames,
  fillValues,
  flagsOf,
  outputsOf,
  sizeNames,
  type Formula,
  type Task,
  type TaskFill,
} from './task'
import { inputError } from '../errors'
import { message } from '../messages/message'

export interface TaskFault {
  path: readonly (string | number)[]
  message: string
}

/** `buffers.x.shape[0]` */
export const place = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : `${text}${text && '.'}${String(step)}`,
    '',
  )

type Report = (path: TaskFault['path'], message: string) => void

const list = (words: Iterable<string>): string => [...words].join(', ')

/** Reserved words, which cannot be struct fields. */
const reserved = new Set(
  'auto bool break case char class const continue default delete do double else enum extern false float for goto if inline int long new private public register return short signed sizeof static struct switch this true typedef union unsigned using void volatile while workspace workspaceBytes progress smCount'.split(
    ' ',
  ),
)

function checkOnce(report: Report, what: string, named: [string, TaskFault['path']][]): void {
  const seen = new Set<string>()
  for (const [name, path] of named) {
    if (seen.has(name)) report(path, `${name} is already the name of another ${what}.`)
    seen.add(name)
  }
}

function checkNames(task: Task, report: Report): void {
  const keys = (part: 'sizes' | 'scalars' | 'options' | 'buffers') =>
    Object.keys(task[part]).map((name): [string, TaskFault['path']] => [name, [part, name]])
  const flags = flagsOf(task)
  const at = (name: string): TaskFault['path'] => ['flags', 'values', name]
  checkOnce(report, 'size, scalar or option', [
    ...keys('sizes'),
    ...keys('scalars'),
    ...keys('options'),
  ])
  checkOnce(report, 'size, scalar or flag', [
    ...keys('sizes'),
    ...keys('scalars'),
    ...flags.map(([name]): [string, TaskFault['path']] => [name, at(name)]),
  ])
  const fields = new Set(flags.flatMap(([, { field }]) => field ?? []))
  const ofStruct: [string, TaskFault['path']][] = [
    ...keys('sizes'),
    ...keys('scalars'),
    ...keys('buffers'),
    ...Object.entries(task.options).map(([name, { field }]): [string, TaskFault['path']] => [
      field,
      ['options', name, 'field'],
    ]),
    ...[...fields].map((field): [string, TaskFault['path']] => [field, ['flags']]),
  ]
  checkOnce(report, 'field of the struct', ofStruct)
  for (const [name, path] of ofStruct)
    if (reserved.has(name)) report(path, `${name} cannot be a field of the struct.`)
}

function checkFormula(task: Task, report: Report, path: TaskFault['path'], formula: Formula): void {
  if (typeof formula === 'number') return
  try {
    const known = expressionNames(task)
    const unknown = namesIn(parseExpression(formula)).filter((name) => !known.includes(name))
    if (unknown.length > 0)
      report(path, `${place(path)} uses ${list(unknown)}; the task has ${list(known)}.`)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    report(path, `${place(path)} is not a valid expression. ${error.message}`)
  }
}

/** The possible types of a buffer. */
const choicesOf = ({ options }: Task, dtype: string): Dtype[] =>
  (Object.hasOwn(options, dtype) ? Object.keys(options[dtype]!.choices) : [dtype]).filter(isDtype)

function checkFill(
  task: Task,
  report: Report,
  path: TaskFault['path'],
  fill: TaskFill,
  dtypes: readonly Dtype[],
): void {
  for (const [key, formula] of fillValues(fill)) checkFormula(task, report, [...path, key], formula)
  const whole = dtypes.find((dtype) => !dtypeOf(dtype).isFloat)
  if ('special' in fill && whole !== undefined)
    report(
      [...path, 'special'],
      `Infinities and NaN fill only floating-point buffers, but this one is ${whole}.`,
    )
  if (fill.kind === 'normal' && whole !== undefined)
    report([...path, 'kind'], `normal fills only floating-point buffers, but this one is ${whole}.`)
}

function checkReference(task: Task, report: Report): void {
  if (typeof task.reference === 'string') {
    if (isPython(task.reference) && task.flags)
      report(['reference'], 'A reference in Python computes without flags; give a reference.cu.')
    return
  }
  for (const [name, check] of Object.entries(task.check))
    if ('scale' in check)
      report(['check', name, 'scale'], 'A trusted rung provides no scale; give rtol and atol.')
  if (task.flags)
    report(
      ['reference'],
      'Rungs with different flags compute different results; provide a reference.cu.',
    )
}

function checkBuffers(task: Task, report: Report): void {
  for (const [name, buffer] of Object.entries(task.buffers)) {
    const at = (key: string): TaskFault['path'] => ['buffers', name, key]
    const option = Object.hasOwn(task.options, buffer.dtype)
      ? task.options[buffer.dtype]
      : undefined
    if (!isDtype(buffer.dtype) && !option)
      report(
        at('dtype'),
        `${buffer.dtype} is neither a type nor an option of the task; the types are ${list(dtypes)}.`,
      )
    for (const [choice, number] of Object.entries(option?.choices ?? {}))
      if (bufferDtype(choice, {}) === null)
        report(at('dtype'), `${choice}, a choice of ${buffer.dtype}, is not a type.`)
      else if (isDtype(choice) && dtypeOf(choice).number !== number)
        report(
          ['options', buffer.dtype, 'choices', choice],
          `The number of ${choice} is ${dtypeOf(choice).number}.`,
        )
    for (const [index, extent] of buffer.shape.entries())
      checkFormula(task, report, [...at('shape'), index], extent)
    if (buffer.when !== undefined && !task.flags?.values[buffer.when])
      report(at('when'), `There is no flag named ${buffer.when}.`)
    if (buffer.read_when !== undefined) {
      if (!task.scalars[buffer.read_when])
        report(at('read_when'), `There is no scalar named ${buffer.read_when}.`)
      if (buffer.access !== 'inout')
        report(at('read_when'), 'read_when is allowed only for a buffer with the access inout.')
    }
    if (buffer.fill) checkFill(task, report, at('fill'), buffer.fill, choicesOf(task, buffer.dtype))
    if (buffer.access === 'out' && buffer.fill)
      report(at('fill'), 'An `out` buffer cannot have a fill.')
    if (buffer.access !== 'out' && !buffer.fill)
      report(['buffers', name], `${name} is read but has no fill.`)
    if (buffer.access !== 'in' && !task.check[name])
      report(['check'], `${name} is written but has no check.`)
  }
  if (outputsOf(task).length === 0) report(['buffers'], 'No buffer is written.')
}

function checkChecks(task: Task, report: Report): void {
  for (const [name, check] of Object.entries(task.check)) {
    if (!outputsOf(task).includes(name))
      report(['check', name], `${name} is not a buffer that is written.`)
    for (const key of ['bound', 'rtol', 'atol'] as const) {
      const formula = (check as Partial<Record<typeof key, Formula>>)[key]
      if (formula !== undefined) checkFormula(task, report, ['check', name, key], formula)
    }
  }
}

function checkFlags(task: Task, report: Report): void {
  for (const [name, { field, value, enum: values }] of flagsOf(task)) {
    if (field === undefined && (value !== undefined || values !== undefined))
      report(['flags', 'values', name], `${name} has a value but no field.`)
    if (values && !Object.values(values).includes(value ?? 1))
      report(['flags', 'values', name, 'enum'], `No enum name has the value ${value ?? 1}.`)
  }
}

function checkWork(task: Task, report: Report): void {
  for (const key of ['flops', 'reads', 'writes'] as const) {
    const formula = task.work[key]
    if (formula !== undefined) checkFormula(task, report, ['work', key], formula)
  }
  for (const [option, choices] of Object.entries(task.work.tensor ?? {})) {
    const known = task.options[option]?.choices
    if (!known) report(['work', 'tensor', option], `There is no option named ${option}.`)
    for (const choice of choices)
      if (known && !Object.hasOwn(known, choice))
        report(['work', 'tensor', option], `${choice} is not a choice of ${option}.`)
  }
}

function checkSanitize(task: Task, report: Report): void {
  if (!task.sanitize) return
  const names = sizeNames(task)
  for (const name of Object.keys(task.sanitize))
    if (!names.includes(name))
      report(['sanitize', name], `There is no size named ${name}; the sizes are ${list(names)}.`)
  for (const name of names)
    if (task.sanitize[name] === undefined) report(['sanitize'], `${name} is missing.`)
}

/** Every fault, in file order; none if the task is usable. */
export function taskFaults(task: Task): TaskFault[] {
  const faults: TaskFault[] = []
  const report: Report = (path, message) => faults.push({ path, message })
  if (sizeNames(task).length === 0) report(['sizes'], 'The task has no size.')
  for (const [name, { choices }] of Object.entries(task.options))
    if (Object.keys(choices).length === 0) report(['options', name], 'It has no choices.')
  checkNames(task, report)
  checkFlags(task, report)
  checkBuffers(task, report)
  checkChecks(task, report)
  checkWork(task, report)
  checkSanitize(task, report)
  checkReference(task, report)
  return faults
}

// Faults of a task's expressions at one problem: fractional shapes, values that are not numbers.

/** A larger buffer exceeds the memory of any GPU; below this, its bytes are exact in a double. */
const mostBytes = 2 ** 48

/** The value of an expression, unless that is a fault. */
function numberAt(
  task: Task,
  own: Case,
  path: TaskFault['path'],
  formula: Formula,
  report: Report,
): number | null {
  const value = valueOf(task, own, formula)
  const what = typeof formula === 'number' ? String(formula) : formula
  if (value === null) report(path, `${what} is not a finite number`)
  return value
}

/** The same, where a negative one is a fault too. */
function amountAt(...[task, own, path, formula, report]: Parameters<typeof numberAt>) {
  const value = numberAt(task, own, path, formula, report)
  if (value !== null && value < 0) report(path, `${formula} is negative, ${value}`)
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
      report(
        [...path, key],
        `${value} is not a valid ${dtype}, which holds whole numbers from ${least} to ${most}`,
      )
    return value ?? NaN
  })
  const special = specialOf(task, own, fill)
  if (special < 0 || !Number.isInteger(special))
    report(
      [...path, 'special'],
      `special is ${special}, but it must be 0 or a whole number of lines`,
    )
  const [lo = NaN, hi = NaN] = values
  if (fill.kind === 'uniform' && (isFloat ? lo >= hi : lo > hi))
    report([...path, 'hi'], `hi must be greater than lo, but this is ${lo} to ${hi}`)
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
      report(path, `${formula} is ${extent}, but an extent must be a whole number of at least 1`)
      return
    }
    bytes *= extent
  }
  if (bytes > mostBytes)
    report(
      ['buffers', name, 'shape'],
      `${name} is ${(bytes / 2 ** 40).toFixed(0)} TiB, which is too large`,
    )
  const { fill } = task.buffers[name]!
  if (fill) checkFillAt(task, own, ['buffers', name, 'fill'], fill, dtype, report)
  const { bytes: element, isFloat, most } = dtypeOf(dtype)
  if (fill?.kind === 'permutation' && !isFloat && bytes / element - 1 > most)
    report(
      ['buffers', name, 'fill'],
      `a permutation of ${bytes / element} does not fit in ${dtype}`,
    )
}

/** Every fault at this problem; none if the runner can execute it. */
export function problemFaults(task: Task, own: Case): TaskFault[] {
  const faults: TaskFault[] = []
  const at = named({ ...own.sizes, ...own.scalars })
  const report: Report = (path, message) => faults.push({ path, message: `At ${at}, ${message}.` })
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

/** Throws for a problem that the runner cannot execute. */
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
