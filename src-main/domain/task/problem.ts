/** A problem: values for the sizes, scalars and options of a task, by name. */
import { z } from 'zod'
import { evaluate, holds, parseConstraint, parseExpression } from './expression'
import { dtypeOf, isDtype, type Dtype } from './dtype'
import { flagsOf, launchScalars, sizeNames, type Formula, type Task, type TaskFill } from './task'

export const Sizes = z.record(z.string(), z.number().int().min(1))
export type Sizes = z.infer<typeof Sizes>
export const Scalars = z.record(z.string(), z.number())
export type Scalars = z.infer<typeof Scalars>
export const Options = z.record(z.string(), z.string())
export type Options = z.infer<typeof Options>

export const Problem = z.object({ sizes: Sizes, scalars: Scalars, options: Options })
export type Problem = z.infer<typeof Problem>

/** A problem for one rung, with the rung's options and the flags from the rung's header. */
export interface Case extends Problem {
  flags: readonly string[]
}

export const caseOf = (
  problem: Problem,
  rung: { options?: Options | undefined; flags?: readonly string[] | undefined } = {},
): Case => ({
  ...problem,
  options: { ...problem.options, ...rung.options },
  flags: rung.flags ?? [],
})

const superscript = (count: number): string =>
  [...String(count)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')

/**
 * Formats sizes: `4096³` if all sizes are equal, otherwise `1023×777×1111`. A single size includes
 * its name, as in `N = 4096`.
 */
export function sizesLabel(sizes: Sizes): string {
  const all = Object.values(sizes)
  if (all.length === 1) return `${Object.keys(sizes)[0]} = ${all[0]}`
  if (all.length > 1 && all.every((size) => size === all[0]))
    return `${all[0]}${superscript(all.length)}`
  return all.join('×')
}

export const problemLabel = ({ sizes }: Pick<Problem, 'sizes'>): string => sizesLabel(sizes)

/** Formats sizes for file names, such as `4096` or `1023x777x1111`. */
export const sizesWord = (sizes: Sizes): string => {
  const all = Object.values(sizes)
  return new Set(all).size === 1 ? String(all[0]) : all.join('x')
}

export const sameSizes = (a: Sizes, b: Sizes): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, size]) => b[name] === size)

/** Formats names and values for a sentence, such as `m 4096, n 4096`. */
export const named = (values: Readonly<Record<string, number | string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

/** Formats the chosen options, such as `f32`. The result is empty if the task has no options. */
export const optionsWord = ({ options }: Pick<Problem, 'options'>): string =>
  Object.values(options).join(' ')

/** Formats sizes and options, such as `4096³ f32`. */
export const problemWord = (problem: Problem): string =>
  `${problemLabel(problem)} ${optionsWord(problem)}`.trimEnd()

/** Formats the chosen options with their display names, such as `FP32`. */
export const optionsLabel = ({ options }: Pick<Problem, 'options'>): string =>
  Object.values(options)
    .map((choice) => (isDtype(choice) ? dtypeOf(choice).label : choice))
    .join(' ')

/**
 * Returns the type of a buffer in a case, or null if the option that determines the type was not
 * chosen.
 */
export function bufferDtype(dtype: string, options: Options): Dtype | null {
  const chosen = options[dtype] ?? dtype
  return isDtype(chosen) ? chosen : null
}

function valueIn(task: Task, own: Case, name: string): number | null {
  const [option, bytes] = name.split('.')
  if (bytes === 'bytes') {
    const dtype = own.options[option!]
    return dtype !== undefined && isDtype(dtype) ? dtypeOf(dtype).bytes : null
  }
  if (flagsOf(task).some(([flag]) => flag === name)) return own.flags.includes(name) ? 1 : 0
  return own.sizes[name] ?? own.scalars[name] ?? inputDefaults(task)[name] ?? null
}

/**
 * Returns the defaults of input-only scalars. A problem contains these scalars only if the request
 * sets them.
 */
export const inputDefaults = (task: Task): Scalars =>
  Object.fromEntries(
    Object.entries(task.scalars).flatMap(([name, { inputs, value }]) =>
      inputs ? [[name, value]] : [],
    ),
  )

/** Returns a task expression's value, or null if it is not a finite number. */
export const valueOf = (task: Task, own: Case, formula: Formula): number | null =>
  typeof formula === 'number'
    ? formula
    : evaluate(parseExpression(formula), (name) => valueIn(task, own, name))

/** Returns the task's constraints that these sizes and scalars violate. */
export const brokenConstraints = (task: Task, own: Problem): string[] =>
  (task.constraints ?? []).filter(
    (text) =>
      holds(parseConstraint(text), (name) => valueIn(task, { flags: [], ...own }, name)) !== true,
  )

/**
 * Returns N if one in N rows of a buffer contains infinities or NaN in this case. Returns 0 if no
 * row contains them.
 */
export const specialOf = (task: Task, own: Case, fill: TaskFill | null | undefined): number =>
  fill && 'special' in fill && fill.special !== undefined
    ? (valueOf(task, own, fill.special) ?? 0)
    : 0

/**
 * Returns whether inputs contain infinities or NaN, so that expected results may also contain
 * infinities or NaN.
 */
export const hasSpecials = (task: Task, own: Case): boolean =>
  Object.values(task.buffers).some(({ fill }) => specialOf(task, own, fill) > 0)

/** Returns the floating-point operations per launch, or null if the task does not count them. */
export const flops = (
  task: Task | null,
  problem: Problem & { flags?: readonly string[] },
): number | null =>
  task?.work.flops === undefined ? null : valueOf(task, { flags: [], ...problem }, task.work.flops)

/**
 * Returns the GFLOP/s for a launch that took `ms` milliseconds, or null if the task does not count
 * operations.
 */
export function gflops(
  task: Task | null,
  problem: Problem & { flags?: readonly string[] },
  ms: number,
): number | null {
  const operations = flops(task, problem)
  return operations === null ? null : operations / (ms * 1e6)
}

/** Returns the minimum number of bytes that a launch moves to and from memory with cold caches. */
export function leastBytes(
  task: Task,
  problem: Problem & { flags?: readonly string[] },
): number | null {
  const own = { flags: [], ...problem }
  const [reads, writes] = [task.work.reads, task.work.writes].map((one) => valueOf(task, own, one))
  return reads == null || writes == null ? null : reads + writes
}

/** Returns whether the arithmetic for these data types runs on tensor cores. */
export const isTensor = (task: Task | null, { options }: Pick<Problem, 'options'>): boolean =>
  Object.entries(task?.work.tensor ?? {}).some(([option, choices]) =>
    choices.includes(options[option] ?? ''),
  )

/** Returns the problem with the task's default scalars and options at these sizes. */
export const usualProblem = (task: Task, sizes: Sizes): Problem => ({
  // Use the task's order of sizes, because labels show this order.
  sizes: Object.fromEntries(
    sizeNames(task).flatMap((name) => (sizes[name] === undefined ? [] : [[name, sizes[name]]])),
  ),
  scalars: Object.fromEntries(launchScalars(task).map(([name, { value }]) => [name, value])),
  options: Object.fromEntries(
    Object.entries(task.options).map(([name, { choices }]) => [name, Object.keys(choices)[0]!]),
  ),
})

/**
 * Returns the scalars that differ from the task's defaults. These scalars distinguish problems with
 * equal sizes.
 */
export const unusualScalars = (task: Task | null | undefined, { scalars }: Problem): Scalars =>
  Object.fromEntries(
    Object.entries(scalars).filter(([name, value]) => task?.scalars[name]?.value !== value),
  )
