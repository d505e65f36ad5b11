/**
 * What can be done from the palette. A screen adds its own while it is on screen; a search finds every
 * word of it anywhere in a command's name or group.
 */
import { onBeforeUnmount, shallowReactive } from 'vue'

export interface Command {
  id: string
  /** In the reader's language. */
  title: string
  group: string
  /** Keys that do the same, as they are pressed. */
  keys?: readonly string[]
  run(): void
}

const screens = shallowReactive(new Set<() => readonly Command[]>())

/** The commands of a screen, for as long as the component lives; the list is asked for when it is shown. */
export function provideCommands(list: () => readonly Command[]): void {
  screens.add(list)
  onBeforeUnmount(() => screens.delete(list))
}

export const screenCommands = (): Command[] => [...screens].flatMap((list) => list())

/** Those whose title begins with the search come first, else the order stays. */
export function findCommands(commands: readonly Command[], search: string): Command[] {
  const wanted = search.trim().toLowerCase()
  const words = wanted.split(/\s+/).filter(Boolean)
  const found = commands.filter(({ title, group }) => {
    const text = `${title} ${group}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const begins = ({ title }: Command) => title.toLowerCase().startsWith(wanted)
  return wanted ? [...found.filter(begins), ...found.filter((one) => !begins(one))] : found
}
