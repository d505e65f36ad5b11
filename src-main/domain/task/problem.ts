/** A problem fixes what a task leaves open: its sizes, scalars and options, by name. */
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

/** A problem as seen by one rung: with the rung's options and the flags that its header turns on. */
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

/** `4096³` if all sizes are equal, otherwise `1023×777×1111`; a single size has its name, `N = 4096`. */
export function sizesLabel(sizes: Sizes): string {
  const all = Object.values(sizes)
  if (all.length === 1) return `${Object.keys(sizes)[0]} = ${all[0]}`
  if (all.length > 1 && all.every((size) => size === all[0]))
    return `${all[0]}${superscript(all.length)}`
  return all.join('×')
}

export const problemLabel = ({ sizes }: Pick<Problem, 'sizes'>): string => sizesLabel(sizes)

/** `4096` or `1023x777x1111`, for file names. */
export const sizesWord = (sizes: Sizes): string => {
  const all = Object.values(sizes)
  return new Set(all).size === 1 ? String(all[0]) : all.join('x')
}

export const sameSizes = (a: Sizes, b: Sizes): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, size]) => b[name] === size)

/** `m 4096, n 4096`: names and values, for a sentence. */
export const named = (values: Readonly<Record<string, number | string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

/** `f32`: the chosen options in short; empty if the task has none. */
export const optionsWord = ({ options }: Pick<Problem, 'options'>): string =>
  Object.values(options).join(' ')

/** `4096³ f32` */
export const problemWord = (problem: Problem): string =>
  `${problemLabel(problem)} ${optionsWord(problem)}`.trimEnd()

/** `FP32`: the same, as display names. */
export const optionsLabel = ({ options }: Pick<Problem, 'options'>): string =>
  Object.values(options)
    .map((choice) => (isDtype(choice) ? dtypeOf(choice).label : choice))
    .join(' ')

/** The type of a buffer in a case; null if the option that determines it was not chosen. */
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

/** What only inputs depend on, where nothing else was chosen: a problem does not say it, nor did those of earlier sessions. */
export const inputDefaults = (task: Task): Scalars =>
  Object.fromEntries(
    Object.entries(task.scalars).flatMap(([name, { inputs, value }]) =>
      inputs ? [[name, value]] : [],
    ),
  )

/** The value of an expression of the task; null if it is not a finite number. */
export const valueOf = (task: Task, own: Case, formula: Formula): number | null =>
  typeof formula === 'number'
    ? formula
    : evaluate(parseExpression(formula), (name) => valueIn(task, own, name))

/** The constraints of the task that do not hold for these sizes and scalars. */
export const brokenConstraints = (task: Task, own: Problem): string[] =>
  (task.constraints ?? []).filter(
    (text) =>
      holds(parseConstraint(text), (name) => valueIn(task, { flags: [], ...own }, name)) !== true,
  )

/** One line of a buffer in so many holds infinities or NaN in this case; 0 for none. */
export const specialOf = (task: Task, own: Case, fill: TaskFill | null | undefined): number =>
  fill && 'special' in fill && fill.special !== undefined
    ? (valueOf(task, own, fill.special) ?? 0)
    : 0

/** Whether inputs hold infinities or NaN, so that the expected results may. */
export const hasSpecials = (task: Task, own: Case): boolean =>
  Object.values(task.buffers).some(({ fill }) => specialOf(task, own, fill) > 0)

/** Floating-point operations per launch; null if the task does not count them. */
export const flops = (
  task: Task | null,
  problem: Problem & { flags?: readonly string[] },
): number | null =>
  task?.work.flops === undefined ? null : valueOf(task, { flags: [], ...problem }, task.work.flops)

/** GFLOP/s of a launch that took `ms` milliseconds; null if the task does not count operations. */
export function gflops(
  task: Task | null,
  problem: Problem & { flags?: readonly string[] },
  ms: number,
): number | null {
  const operations = flops(task, problem)
  return operations === null ? null : operations / (ms * 1e6)
}

/** The minimum bytes that a launch moves to and from memory with cold caches. */
export function leastBytes(
  task: Task,
  problem: Problem & { flags?: readonly string[] },
): number | null {
  const own = { flags: [], ...problem }
  const [reads, writes] = [task.work.reads, task.work.writes].map((one) => valueOf(task, own, one))
  return reads == null || writes == null ? null : reads + writes
}

/** Whether the arithmetic of this problem runs on tensor cores. */
export const isTensor = (task: Task | null, { options }: Pick<Problem, 'options'>): boolean =>
  Object.entries(task?.work.tensor ?? {}).some(([option, choices]) =>
    choices.includes(options[option] ?? ''),
  )

/** The problem with the task's defaults at these sizes. */
export const usualProblem = (task: Task, sizes: Sizes): Problem => ({
  // In the task's order, as labels list them.
  sizes: Object.fromEntries(
    sizeNames(task).flatMap((name) => (sizes[name] === undefined ? [] : [[name, sizes[name]]])),
  ),
  scalars: Object.fromEntries(launchScalars(task).map(([name, { value }]) => [name, value])),
  options: Object.fromEntries(
    Object.entries(task.options).map(([name, { choices }]) => [name, Object.keys(choices)[0]!]),
  ),
})

/** The scalars that are not those of the task itself: what tells two problems of the same sizes apart. */
export const unusualScalars = (task: Task | null | undefined, { scalars }: Problem): Scalars =>
  Object.fromEntries(
    Object.entries(scalars).filter(([name, value]) => task?.scalars[name]?.value !== value),
  )
