/** Whether two versions of a task pass the same things to a launch, so that code of both can run on one problem. Pure. */
import type { Task } from '../task/task'

type Part = 'sizes' | 'scalars' | 'options' | 'flags' | 'buffers'

/** What decides the launch struct and the contents of buffers, in the order that they are laid out; no titles. */
const parts: Record<Part, (task: Task) => unknown> = {
  sizes: ({ sizes }) => Object.keys(sizes),
  scalars: ({ scalars }) => Object.entries(scalars).map(([name, { dtype }]) => [name, dtype]),
  options: ({ options }) =>
    Object.entries(options).map(([name, { field, choices }]) => [name, field, choices]),
  flags: ({ flags }) =>
    Object.entries(flags?.values ?? {}).map(([name, flag]) => [
      ...[name, flag.field, flag.value],
      flag.enum,
    ]),
  buffers: ({ buffers }) =>
    Object.entries(buffers).map(([name, { name: _title, ...buffer }]) => [
      name,
      Object.entries(buffer).sort(([a], [b]) => (a < b ? -1 : 1)),
    ]),
}

/** The first part in which they differ; null if there is none. */
export function otherwiseDefined(a: Task, b: Task): Part | null {
  const differs = (of: (task: Task) => unknown): boolean =>
    JSON.stringify(of(a)) !== JSON.stringify(of(b))
  const found = Object.entries(parts).find(([, of]) => differs(of))
  return (found?.[0] as Part | undefined) ?? null
}
