/** Lists of words that are stored in the browser, one per key. */
import { computed, type WritableComputedRef } from 'vue'
import { storedText } from './preferences'

/** Maximum number of stored lists. The least recently changed list is removed first. */
const mostLists = 50

type Lists = readonly (readonly [key: string, words: readonly string[]])[]

/** Parses the stored lists. The text is validated, because another program may have written it. */
export function readLists(text: string): Lists {
  try {
    const value: unknown = JSON.parse(text)
    if (!Array.isArray(value)) return []
    return value.filter(
      (entry): entry is [string, string[]] =>
        Array.isArray(entry) &&
        typeof entry[0] === 'string' &&
        Array.isArray(entry[1]) &&
        entry[1].every((word) => typeof word === 'string'),
    )
  } catch {
    return []
  }
}

/** Returns the stored text with one key's list replaced. null removes the list. */
export function writeLists(lists: Lists, key: string, words: readonly string[] | null): string {
  const others = lists.filter(([known]) => known !== key)
  return JSON.stringify((words ? [...others, [key, words] as const] : others).slice(-mostLists))
}

/** Returns the stored list of a key, or null if none is stored. */
export function keptList(
  name: string,
  key: () => string,
): WritableComputedRef<readonly string[] | null> {
  const kept = storedText(name)
  return computed({
    get: () => readLists(kept.value).find(([known]) => known === key())?.[1] ?? null,
    set: (words) => (kept.value = writeLists(readLists(kept.value), key(), words)),
  })
}
