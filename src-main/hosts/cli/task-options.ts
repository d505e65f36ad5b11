/**
 * Defines options for the sizes, scalars and options of tasks, by name.
 *
 * `parse-run-request.ts` parses the option values, because parsing needs the whole contract.
 */
import { sizesLabel, type Sizes } from '../../domain/task/problem'
import { namesOf } from '../../domain/task/problem-request'
import type { Task } from '../../domain/task/task'

/** An option with the syntax `--NAME <value>`. */
export interface NamedOption {
  name: string
  kind: 'size' | 'scalar' | 'option'
  /** Maximum value of this size across all tasks. */
  max: number
  help: string
}

/** The tasks that define options, and the ladder that the command line selects, if any. */
export interface TaskChoice {
  tasks: readonly Task[]
  ladder: { id: string; task: Task; sizes: readonly Sizes[] } | null
}

/** Returns the help text about the chosen ladder. */
export const ladderHelpText = ({ ladder }: TaskChoice): string =>
  ladder === null
    ? '\nA ladder’s own sizes, scalars, and options are options too: add --ladder ID to see them.'
    : `\n${ladder.id} takes ${namesOf(ladder.task).join(', ')}; sizes: ${ladder.sizes.map(sizesLabel).join(', ')} (the first by default).`

/** Returns one option per name that a task defines. Omits names that the command already uses. */
export function namedOptions(tasks: Iterable<Task>, taken: ReadonlySet<string>): NamedOption[] {
  const found = new Map<string, NamedOption>()
  const add = (option: NamedOption): void => {
    const known = found.get(option.name)
    if (known) known.max = Math.max(known.max, option.max)
    else if (!taken.has(option.name)) found.set(option.name, option)
  }
  for (const task of tasks) {
    for (const [name, { title, max }] of Object.entries(task.sizes))
      add({ name, kind: 'size', max, help: title ?? `size of ${task.title}` })
    for (const [name, { title }] of Object.entries(task.scalars))
      add({
        name,
        kind: 'scalar',
        max: 0,
        help: `${title ?? task.formula ?? task.title} (default: the ladder’s)`,
      })
    for (const [name, { title, choices }] of Object.entries(task.options))
      add({
        name,
        kind: 'option',
        max: 0,
        help: `${title ?? name}: ${Object.keys(choices).join(', ')} (default: the ladder’s)`,
      })
  }
  return [...found.values()]
}
