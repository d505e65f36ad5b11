/** The state of a fetch or an action, with all data that a screen needs to show it. */
import { ref, shallowRef } from 'vue'

export type Loadable<T> =
  | { state: 'loading' }
  | { state: 'ready'; value: T }
  | { state: 'failed'; error: unknown }

export const loading = { state: 'loading' } as const

export const valueOf = <T>(loadable: Loadable<T> | undefined): T | undefined =>
  loadable?.state === 'ready' ? loadable.value : undefined

/** Returns a loadable with its value mapped. A loadable without a value is returned unchanged. */
export const mapValue = <T, U>(loadable: Loadable<T>, map: (value: T) => U): Loadable<U> =>
  loadable.state === 'ready' ? { state: 'ready', value: map(loadable.value) } : loadable

/** Runs `work` and reports each of its states. Never throws. */
export async function track<T>(
  work: Promise<T>,
  set: (loadable: Loadable<T>) => void,
): Promise<void> {
  set(loading)
  try {
    set({ state: 'ready', value: await work })
  } catch (error) {
    set({ state: 'failed', error })
  }
}

/** Tracks the actions of a panel: the running action, and the error of the last one. */
export function useAttempt<What extends string>() {
  const busy = ref<What | null>(null)
  const failure = shallowRef<unknown>(null)
  async function attempt(what: What, work: () => Promise<unknown>): Promise<void> {
    busy.value = what
    failure.value = null
    try {
      await work()
    } catch (error) {
      failure.value = error
    } finally {
      busy.value = null
    }
  }
  return { busy, failure, attempt }
}
