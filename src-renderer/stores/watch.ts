import { defineStore } from 'pinia'
import { computed, shallowRef, watch } from 'vue'
import type { CallInput, CallOutput } from '../../src-main/contract'
import { useClient } from '../client/current'
import { useRunStore } from './run'

/** How often a watch is asked after while a screen shows it, in milliseconds. */
const pollMs = 500

/** The folder that is run again at each save. */
export const useWatchStore = defineStore('watch', () => {
  const state = shallowRef<CallOutput<'watch.current'>>({ on: false })
  const error = shallowRef<unknown>(null)
  const busy = shallowRef(false)
  const on = computed(() => state.value.on)

  let followers = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  async function ask(): Promise<void> {
    clearTimeout(timer)
    try {
      state.value = await useClient().call('watch.current', {})
      error.value = null
    } catch (reason) {
      error.value = reason
    }
    clearTimeout(timer)
    if (followers > 0 && on.value) timer = setTimeout(() => void ask(), pollMs)
  }

  /** Asks until the returned function is called. */
  function follow(): () => void {
    followers += 1
    void ask()
    // The end of a run is news at once.
    const stop = watch(
      () => useRunStore().active,
      () => void ask(),
    )
    return () => {
      followers -= 1
      stop()
    }
  }

  async function change(work: () => Promise<unknown>): Promise<boolean> {
    busy.value = true
    try {
      await work()
      await ask()
      return error.value === null
    } catch (reason) {
      error.value = reason
      return false
    } finally {
      busy.value = false
    }
  }

  const start = (request: CallInput<'watch.start'>) =>
    change(() => useClient().call('watch.start', request))
  const stop = () => change(() => useClient().call('watch.stop', {}))

  return { state, error, busy, on, follow, start, stop }
})
