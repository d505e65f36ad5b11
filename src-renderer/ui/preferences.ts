/**
 * A user preference that persists across page loads. The preference is stored in local storage and
 * in a cookie. `serve` uses a different port each time, and local storage is separate for each
 * port. Cookies are shared by all ports.
 */
import { ref, watch, type Ref } from 'vue'

const yearSeconds = 365 * 24 * 3600

export function keptChoice<T extends string>(name: string, choices: readonly T[]): Ref<T> {
  const key = `kernel-ladder-${name}`
  const choice = ref(choices.find((value) => value === read(key)) ?? choices[0]) as Ref<T>
  watch(choice, (value) => write(key, value))
  return choice
}

function read(key: string): string | undefined {
  // Number formats need the language even where no document exists, for example in tests.
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

/**
 * Returns the result of `use`, or undefined if the browser denies storage. Without storage, a
 * choice lasts only until the page closes.
 */
function stored<T>(use: () => T): T | undefined {
  try {
    return use() ?? undefined
  } catch {
    return undefined
  }
}

/** Returns a string that persists in this browser and is initially empty. */
export function storedText(name: string): Ref<string> {
  const key = `kernel-ladder-${name}`
  const text = ref(stored(() => localStorage.getItem(key) ?? undefined) ?? '')
  watch(text, (value) => stored(() => localStorage.setItem(key, value)))
  return text
}
