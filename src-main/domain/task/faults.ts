/** Finds semantic errors in a task, such as unknown names and invalid expressions. */
import { bufferDtype } from './problem'
import { isPython } from './python'
import { dtypeOf, dtypes, isDtype, type Dtype } from './dtype'
import {
  ExpressionError,
  namesIn,
  parseConstraint,
  parseExpression,
  type Expression,
} from './expression'
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
import { message, type AnyMessage } from '../messages/message'

export interface TaskFault {
  path: readonly (string | number)[]
  /** The error as a message, so that UIs can translate it. */
  message: AnyMessage
}

/** Formats a path in the task, such as `buffers.x.shape[0]`. */
export const place = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : `${text}${text && '.'}${String(step)}`,
    '',
  )

export type Report = (path: TaskFault['path'], fault: AnyMessage) => void

const list = (words: Iterable<string>): string => [...words].join(', ')

/** Reserved words that cannot be struct fields. */
const reserved = new Set(
  'auto bool break case char class const continue default delete do double else enum extern false float for goto if inline int long new private public register return short signed sizeof static struct switch this true typedef union unsigned using void volatile while workspace workspaceBytes progress smCount'.split(
    ' ',
  ),
)

function checkOnce(report: Report, what: AnyMessage, named: [string, TaskFault['path']][]): void {
  const seen = new Set<string>()
  for (const [name, path] of named) {
    if (seen.has(name)) report(path, message('task.taken', { name, what }))
    seen.add(name)
  }
}

function checkNames(task: Task, report: Report): void {
  const keys = (part: 'sizes' | 'scalars' | 'options' | 'buffers') =>
    Object.keys(task[part]).map((name): [string, TaskFault['path']] => [name, [part, name]])
  const flags = flagsOf(task)
  const at = (name: string): TaskFault['path'] => ['flags', 'values', name]
  checkOnce(report, message('task.sizeScalarOption'), [
    ...keys('sizes'),
    ...keys('scalars'),
    ...keys('options'),
  ])
  checkOnce(report, message('task.sizeScalarFlag'), [
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
  checkOnce(report, message('task.field'), ofStruct)
  for (const [name, path] of ofStruct)
    if (reserved.has(name)) report(path, message('task.reserved', { name }))
}

export const checkFormula = (
  task: Task,
  report: Report,
  path: TaskFault['path'],
  formula: Formula,
): void =>
  typeof formula === 'number'
    ? undefined
    : checkExpressions(task, report, path, () => [parseExpression(formula)])

function checkExpressions(
  task: Task,
  report: Report,
  path: TaskFault['path'],
  parsed: () => Expression[],
): void {
  try {
    const known = expressionNames(task)
    const unknown = parsed()
      .flatMap(namesIn)
      .filter((name) => !known.includes(name))
    if (unknown.length > 0)
      report(
        path,
        message('task.unknownNames', {
          place: place(path),
          names: list(unknown),
          known: list(known),
        }),
      )
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    report(path, message('task.noExpression', { place: place(path), text: error.message }))
  }
}

/** Returns a buffer's possible types. */
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
    report([...path, 'special'], message('task.specialOfWhole', { dtype: whole }))
  if (fill.kind === 'normal' && whole !== undefined)
    report([...path, 'kind'], message('task.normalOfWhole', { dtype: whole }))
}

function checkConstraints(task: Task, report: Report): void {
  for (const [index, text] of (task.constraints ?? []).entries())
    checkExpressions(task, report, ['constraints', index], () => {
      const { left, right } = parseConstraint(text)
      return [left, right]
    })
}

/**
 * Reports errors for computed inputs and masks unless the reference is a .cu file, because only a
 * .cu reference can provide them.
 */
function checkStages(task: Task, report: Report): void {
  if (typeof task.reference === 'string' && !isPython(task.reference)) return
  for (const [name, { fill }] of Object.entries(task.buffers))
    if (fill?.kind === 'computed') report(['buffers', name, 'fill'], message('task.computedBy'))
  for (const [name, check] of Object.entries(task.check))
    if (check.mask) report(['check', name, 'mask'], message('task.maskedBy'))
}

function checkReference(task: Task, report: Report): void {
  checkStages(task, report)
  if (typeof task.reference === 'string') {
    if (isPython(task.reference) && task.flags) report(['reference'], message('task.pythonFlags'))
    return
  }
  for (const [name, check] of Object.entries(task.check))
    if ('scale' in check) report(['check', name, 'scale'], message('task.trustedScale'))
  if (task.flags) report(['reference'], message('task.trustedFlags'))
}

function checkBuffers(task: Task, report: Report): void {
  for (const [name, buffer] of Object.entries(task.buffers)) {
    const at = (key: string): TaskFault['path'] => ['buffers', name, key]
    const option = Object.hasOwn(task.options, buffer.dtype)
      ? task.options[buffer.dtype]
      : undefined
    if (!isDtype(buffer.dtype) && !option)
      report(at('dtype'), message('task.noType', { dtype: buffer.dtype, types: list(dtypes) }))
    for (const [choice, number] of Object.entries(option?.choices ?? {}))
      if (bufferDtype(choice, {}) === null)
        report(at('dtype'), message('task.choiceNoType', { choice, option: buffer.dtype }))
      else if (isDtype(choice) && dtypeOf(choice).number !== number)
        report(
          ['options', buffer.dtype, 'choices', choice],
          message('task.choiceNumber', { choice, number: dtypeOf(choice).number }),
        )
    for (const [index, extent] of buffer.shape.entries())
      checkFormula(task, report, [...at('shape'), index], extent)
    if (buffer.when !== undefined && !task.flags?.values[buffer.when])
      report(at('when'), message('task.noFlag', { name: buffer.when }))
    if (buffer.read_when !== undefined) {
      if (!task.scalars[buffer.read_when])
        report(at('read_when'), message('task.noScalar', { name: buffer.read_when }))
      if (buffer.access !== 'inout') report(at('read_when'), message('task.readWhen'))
    }
    if (buffer.fill) checkFill(task, report, at('fill'), buffer.fill, choicesOf(task, buffer.dtype))
    if (buffer.access === 'out' && buffer.fill) report(at('fill'), message('task.outFill'))
    if (buffer.access !== 'out' && !buffer.fill)
      report(['buffers', name], message('task.noFill', { name }))
    if (buffer.access !== 'in' && !task.check[name])
      report(['check'], message('task.noCheck', { name }))
  }
  if (outputsOf(task).length === 0) report(['buffers'], message('task.nothingWritten'))
}

function checkChecks(task: Task, report: Report): void {
  for (const [name, check] of Object.entries(task.check)) {
    if (!outputsOf(task).includes(name))
      report(['check', name], message('task.notWritten', { name }))
    for (const key of ['bound', 'rtol', 'atol'] as const) {
      const formula = (check as Partial<Record<typeof key, Formula>>)[key]
      if (formula !== undefined) checkFormula(task, report, ['check', name, key], formula)
    }
  }
}

function checkFlags(task: Task, report: Report): void {
  for (const [name, { field, value, enum: values }] of flagsOf(task)) {
    if (field === undefined && (value !== undefined || values !== undefined))
      report(['flags', 'values', name], message('task.valueNoField', { name }))
    if (values && !Object.values(values).includes(value ?? 1))
      report(['flags', 'values', name, 'enum'], message('task.noEnum', { value: value ?? 1 }))
  }
}

function checkWork(task: Task, report: Report): void {
  for (const key of ['flops', 'reads', 'writes'] as const) {
    const formula = task.work[key]
    if (formula !== undefined) checkFormula(task, report, ['work', key], formula)
  }
  for (const [option, choices] of Object.entries(task.work.tensor ?? {})) {
    const known = task.options[option]?.choices
    if (!known) report(['work', 'tensor', option], message('task.noOption', { name: option }))
    for (const choice of choices)
      if (known && !Object.hasOwn(known, choice))
        report(['work', 'tensor', option], message('task.noChoice', { choice, option }))
  }
}

function checkSanitize(task: Task, report: Report): void {
  if (!task.sanitize) return
  const names = sizeNames(task)
  for (const name of Object.keys(task.sanitize))
    if (!names.includes(name))
      report(['sanitize', name], message('task.noSize', { name, sizes: list(names) }))
  for (const name of names)
    if (task.sanitize[name] === undefined) report(['sanitize'], message('task.missing', { name }))
}

/** Returns all errors in file order. A valid task has no errors. */
export function taskFaults(task: Task): TaskFault[] {
  const faults: TaskFault[] = []
  const report: Report = (path, fault) => faults.push({ path, message: fault })
  if (sizeNames(task).length === 0) report(['sizes'], message('task.noSizes'))
  for (const [name, { choices }] of Object.entries(task.options))
    if (Object.keys(choices).length === 0) report(['options', name], message('task.noChoices'))
  checkNames(task, report)
  checkConstraints(task, report)
  checkFlags(task, report)
  checkBuffers(task, report)
  checkChecks(task, report)
  checkWork(task, report)
  checkSanitize(task, report)
  checkReference(task, report)
  return faults
}
