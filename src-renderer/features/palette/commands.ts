/**
 * The palette's commands. Each screen adds its own commands while it is mounted. A search matches
 * commands whose title or group contains all its words.
 */
import { onBeforeUnmount, shallowReactive } from 'vue'

export interface Command {
  id: string
  /** The title in the user's language. */
  title: string
  group: string
  /** Additional words that the search matches, such as an id. */
  also?: string
  /** The equivalent keys, in the order in which the user presses them. */
  keys?: readonly string[]
  run(): void
}

const screens = shallowReactive(new Set<() => readonly Command[]>())

/**
 * Registers a screen's commands while the component is mounted. The palette calls `list` when it
 * opens.
 */
export function provideCommands(list: () => readonly Command[]): void {
  screens.add(list)
  onBeforeUnmount(() => screens.delete(list))
}

export const screenCommands = (): Command[] => [...screens].flatMap((list) => list())

/**
 * Returns the matching commands. Titles that start with the search come first. The other matches
 * keep their order.
 */
export function findCommands(commands: readonly Command[], search: string): Command[] {
  const wanted = search.trim().toLowerCase()
  const words = wanted.split(/\s+/).filter(Boolean)
  const found = commands.filter(({ title, group, also = '' }) => {
    const text = `${title} ${group} ${also}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const begins = ({ title }: Command) => title.toLowerCase().startsWith(wanted)
  return wanted ? [...found.filter(begins), ...found.filter((one) => !begins(one))] : found
}
