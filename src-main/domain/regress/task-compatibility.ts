/**
 * Compares the launch arguments of two task versions. If the arguments are equal, code for either
 * version can run on the same problem.
 */
import { namesIn, parseExpression } from '../task/expression'
import { valueOf } from '../task/problem'
import { fillValues, launchScalars, type Task, type TaskFill } from '../task/task'

type Part = 'sizes' | 'scalars' | 'options' | 'flags' | 'buffers'

/**
 * The parts of a task that determine the launch struct and the buffer contents, in layout order.
 * Titles are excluded.
 */
const parts: Record<Part, (task: Task) => unknown> = {
  sizes: ({ sizes }) => Object.keys(sizes),
  scalars: (task) => launchScalars(task).map(([name, { dtype }]) => [name, dtype]),
  options: ({ options }) =>
    Object.entries(options).map(([name, { field, choices }]) => [name, field, choices]),
  flags: ({ flags }) =>
    Object.entries(flags?.values ?? {}).map(([name, flag]) => [
      ...[name, flag.field, flag.value],
      flag.enum,
    ]),
  buffers: (task) =>
    Object.entries(task.buffers).map(([name, { name: _title, ...buffer }]) => [
      name,
      Object.entries({ ...buffer, fill: usualFill(task, buffer.fill) }).sort(([a], [b]) =>
        a < b ? -1 : 1,
      ),
    ]),
}

/** Returns the fill with the default values of input-only scalars inserted. */
function usualFill(task: Task, fill: TaskFill | undefined): object | undefined {
  if (!fill || fill.kind === 'file') return fill
  const values = fillValues(fill).flatMap(([key, formula]) => {
    const names = typeof formula === 'number' ? [] : namesIn(parseExpression(formula))
    const value =
      names.length > 0 && names.every((name) => task.scalars[name]?.inputs)
        ? valueOf(task, { sizes: {}, scalars: {}, options: {}, flags: [] }, formula)
        : formula
    return key === 'special' && value === 0 ? [] : [[key, value] as const]
  })
  return { kind: fill.kind, ...Object.fromEntries(values) }
}

/** Returns the first part that differs between two tasks, or null if all parts are equal. */
export function otherwiseDefined(a: Task, b: Task): Part | null {
  const differs = (of: (task: Task) => unknown): boolean =>
    JSON.stringify(of(a)) !== JSON.stringify(of(b))
  const found = Object.entries(parts).find(([, of]) => differs(of))
  return (found?.[0] as Part | undefined) ?? null
}
