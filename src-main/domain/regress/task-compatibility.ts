/**
 * Whether two versions of a task pass the same arguments to a launch.
 *
 * If they do, code of both can run on one problem.
 */
import { namesIn, parseExpression } from '../task/expression'
import { valueOf } from '../task/problem'
import { fillValues, launchScalars, type Task, type TaskFill } from '../task/task'

type Part = 'sizes' | 'scalars' | 'options' | 'flags' | 'buffers'

/** What decides the launch struct and the contents of buffers, in the order that they are laid out; no titles. */
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

/** As it is where nobody asks for other inputs: with the defaults of what only inputs depend on. */
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

/** The first part in which they differ; null if there is none. */
export function otherwiseDefined(a: Task, b: Task): Part | null {
  const differs = (of: (task: Task) => unknown): boolean =>
    JSON.stringify(of(a)) !== JSON.stringify(of(b))
  const found = Object.entries(parts).find(([, of]) => differs(of))
  return (found?.[0] as Part | undefined) ?? null
}
