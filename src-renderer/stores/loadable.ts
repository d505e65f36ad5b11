/** The state of something that is fetched or done; all that a screen needs to render it. */
import { ref, shallowRef } from 'vue'

export type Loadable<T> =
  | { state: 'loading' }
  | { state: 'ready'; value: T }
  | { state: 'failed'; error: unknown }

export const loading = { state: 'loading' } as const

export const valueOf = <T>(loadable: Loadable<T> | undefined): T | undefined =>
  loadable?.state === 'ready' ? loadable.value : undefined

/** The same state, with the value mapped once there is one. */
export const mapValue = <T, U>(loadable: Loadable<T>, map: (value: T) => U): Loadable<U> =>
  loadable.state === 'ready' ? { state: 'ready', value: map(loadable.value) } : loadable

/** Runs `work` and reports every state; never throws. */
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

/** What a panel does when its user asks: which of it goes on now, and why the last failed. */
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
