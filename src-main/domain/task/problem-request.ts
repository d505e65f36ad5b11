/** Converts the names and values in a request to a task problem. */
import { z } from 'zod'
import { sizeNames, type Task } from './task'
import { inputError } from '../errors'
import { message, type MessageValue } from '../messages/message'
import { Sizes, Problem, inputDefaults, usualProblem } from './problem'

/** Sizes, scalars and options by name. All names in a task are distinct. */
export const At = z.record(z.string(), z.union([z.number(), z.string()]))

export type At = z.infer<typeof At>

/** The parts of a problem that a request specifies. */
export interface Choice {
  /** Value for all of the task's sizes. */
  size?: number | undefined
  at?: At | undefined
}

/** Defaults for the parts that a request does not specify. */
type Usual = Partial<Omit<Problem, 'sizes'>> & { sizes?: Sizes | undefined }

const list = (words: Iterable<string>): string => [...words].join(', ')

/** Joins words for a sentence, such as `m, n and k`. */
function several(words: readonly string[]): MessageValue {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : message('asked.and', { some: list(words.slice(0, -1)), last })
}

export const namesOf = (task: Task): string[] => [
  ...sizeNames(task),
  ...Object.keys(task.scalars),
  ...Object.keys(task.options),
]

function sizeOf(task: Task, name: string, value: number | string): number {
  const { max } = task.sizes[name]!
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max)
    return value
  throw inputError(
    message('asked.notSize', { name, value }),
    message('asked.giveSize', { most: max }),
  )
}

function scalarOf(task: Task, name: string, value: number | string): number {
  const whole = task.scalars[name]!.dtype.startsWith('i')
  if (typeof value === 'number' && Number.isFinite(value) && (!whole || Number.isInteger(value)))
    return value
  throw inputError(
    message(whole ? 'asked.notWhole' : 'asked.notNumber', { name, value }),
    message('asked.forExample', { name, value: whole ? 2 : 0.5 }),
  )
}

function choiceOf(task: Task, name: string, value: number | string): string {
  const { choices, title } = task.options[name]!
  if (Object.hasOwn(choices, String(value))) return String(value)
  throw inputError(
    message('asked.noChoice', { name, value, title: title ?? name }),
    message('asked.choices', { choices: list(Object.keys(choices)) }),
  )
}

function chosenSizes(task: Task, { size, at = {} }: Choice): Sizes | null {
  const names = sizeNames(task)
  const given = names.filter((name) => at[name] !== undefined)
  if (size !== undefined) {
    if (given.length > 0)
      throw inputError(
        message('asked.sizeBeside', { names: several(names) }),
        message('asked.oneOrOther'),
      )
    return Object.fromEntries(names.map((name) => [name, sizeOf(task, name, size)]))
  }
  if (given.length === 0) return null
  return Object.fromEntries(given.map((name) => [name, sizeOf(task, name, at[name]!)]))
}

/** Returns the sizes that have a default. */
const valuesOf = (task: Task): Sizes =>
  Object.fromEntries(
    Object.entries(task.sizes).flatMap(([name, { value }]) =>
      value === undefined ? [] : [[name, value]],
    ),
  )

/** Throws an input error for a name that the task does not have. */
function checkNames(task: Task, at: At): void {
  const names = namesOf(task)
  const unknown = Object.keys(at).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw inputError(
      message('asked.noName', { task: task.id, name: JSON.stringify(unknown) }),
      message('asked.names', { names: list(names) }),
    )
}

/** Returns only the sizes, scalars and options that the request specifies. */
export function chosen(
  task: Task,
  choice: Choice,
): { sizes: Sizes | null } & Omit<Problem, 'sizes'> {
  const { at = {} } = choice
  checkNames(task, at)
  const given = (names: object): string[] =>
    Object.keys(names).filter((name) => at[name] !== undefined)
  return {
    sizes: chosenSizes(task, choice),
    scalars: Object.fromEntries(
      given(task.scalars).map((name) => [name, scalarOf(task, name, at[name]!)]),
    ),
    options: Object.fromEntries(
      given(task.options).map((name) => [name, choiceOf(task, name, at[name]!)]),
    ),
  }
}

/**
 * Returns the requested problem. Throws an input error if sizes are missing or the task does not
 * accept a value.
 */
export function problemAt(task: Task, choice: Choice, usual: Usual): Problem {
  const own = chosen(task, choice)
  const sizes = { ...valuesOf(task), ...usual.sizes, ...own.sizes }
  for (const name of sizeNames(task))
    if (sizes[name] === undefined)
      throw inputError(
        message('asked.missing', { name }),
        message('asked.give', { names: several(sizeNames(task)) }),
      )
    else sizeOf(task, name, sizes[name])
  const base = usualProblem(task, sizes)
  const usually = inputDefaults(task)
  const scalars = { ...base.scalars, ...usual.scalars, ...own.scalars }
  return {
    ...base,
    scalars: Object.fromEntries(
      Object.entries(scalars).filter(([name, value]) => usually[name] !== value),
    ),
    options: { ...base.options, ...usual.options, ...own.options },
  }
}
