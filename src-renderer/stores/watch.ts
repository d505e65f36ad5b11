import { defineStore } from 'pinia'
import { computed, shallowRef, watch } from 'vue'
import type { CallInput, CallOutput } from '../../src-main/contract'
import { useClient } from '../client/current'
import { useRunStore } from './run'

/** Polling interval while a screen shows the watch, in milliseconds. */
const pollMs = 500

/** The folder that is re-run on every save. */
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

  /** Polls until the returned function is called. */
  function follow(): () => void {
    followers += 1
    void ask()
    // Poll at once when a run ends.
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
