/** What a user chose, which persists across page loads: a choice, the language, and lists of words. */
import { ref, watch, type Ref, computed, type WritableComputedRef } from 'vue'

// A user preference that persists across page loads. Kept in local storage and also in a cookie: `serve`
// picks a different port each time, which is a new origin to local storage but not to a cookie.

const yearSeconds = 365 * 24 * 3600

export function keptChoice<T extends string>(name: string, choices: readonly T[]): Ref<T> {
  const key = `kernel-ladder-${name}`
  const choice = ref(choices.find((value) => value === read(key)) ?? choices[0]) as Ref<T>
  watch(choice, (value) => write(key, value))
  return choice
}

function read(key: string): string | undefined {
  // Formats read the language where there is no page too: in tests, which share them.
  const cookies = stored(() => new Map(document.cookie.split('; ').map((pair) => splitPair(pair))))
  return stored(() => localStorage.getItem(key)) ?? cookies?.get(key)
}

function write(key: string, value: string): void {
  stored(() => localStorage.setItem(key, value))
  document.cookie = `${key}=${value}; Path=/; Max-Age=${yearSeconds}; SameSite=Strict`
}

const splitPair = (pair: string): [string, string] => {
  const at = pair.indexOf('=')
  return [pair.slice(0, at), pair.slice(at + 1)]
}

/** The browser may deny storage; the choice then lasts only as long as the page. */
function stored<T>(use: () => T): T | undefined {
  try {
    return use() ?? undefined
  } catch {
    return undefined
  }
}

/** Text that persists in this browser; empty at first. */
export function keptText(name: string): Ref<string> {
  const key = `kernel-ladder-${name}`
  const text = ref(stored(() => localStorage.getItem(key) ?? undefined) ?? '')
  watch(text, (value) => stored(() => localStorage.setItem(key, value)))
  return text
}

// The available languages and the current one. i18n.ts loads the locales.

/** Names in their own language, for users who cannot read the current one. */
export const languages = { en: 'English', ko: '한국어', 'zh-CN': '简体中文' } as const
export type Language = keyof typeof languages

export const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name)

/** The current language. */
export const language = ref<Language>('en')

/** The first preferred language that is available; any Chinese gets Simplified Chinese. */
export function pickLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [primary] = tag.toLowerCase().split('-')
    if (primary === 'zh') return 'zh-CN'
    if (primary !== undefined && isLanguage(primary)) return primary
  }
  return 'en'
}

// Lists of words, one per thing that they belong to, remembered in this browser.

/** Lists that are kept; the one that was changed longest ago goes first. */
const mostLists = 50

type Lists = readonly (readonly [key: string, words: readonly string[]])[]

/** Someone else may have written it. */
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

/** With this list in place of the key's; null forgets it. */
export function writeLists(lists: Lists, key: string, words: readonly string[] | null): string {
  const others = lists.filter(([known]) => known !== key)
  return JSON.stringify((words ? [...others, [key, words] as const] : others).slice(-mostLists))
}

/** Null where none was kept. */
export function keptList(
  name: string,
  key: () => string,
): WritableComputedRef<readonly string[] | null> {
  const kept = keptText(name)
  return computed({
    get: () => readLists(kept.value).find(([known]) => known === key())?.[1] ?? null,
    set: (words) => (kept.value = writeLists(readLists(kept.value), key(), words)),
  })
}
