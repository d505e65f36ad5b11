import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { CallInput, CallOutput } from '../../src-main/contract'
import { useClient } from '../client/client'

/** Polling interval for a running job, in milliseconds. */
const pollMs = 500

/** The compute-sanitizer job. The job has no event stream, so the screen polls its state. */
export const useSanitizeStore = defineStore('sanitize', () => {
  const state = shallowRef<CallOutput<'sanitize.current'>>({ state: 'idle' })
  const error = shallowRef<unknown>(null)
  const starting = shallowRef(false)
  const cancelling = shallowRef(false)
  const active = computed(() => state.value.state === 'running')

  let watchers = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  async function ask(): Promise<void> {
    clearTimeout(timer)
    try {
      state.value = await useClient().call('sanitize.current', {})
      error.value = null
      if (!active.value) cancelling.value = false
    } catch (reason) {
      error.value = reason
    }
    clearTimeout(timer)
    if (watchers > 0 && active.value) timer = setTimeout(() => void ask(), pollMs)
  }

  /** Polls until the caller calls the returned function. */
  function follow(): () => void {
    watchers += 1
    void ask()
    return () => {
      watchers -= 1
    }
  }

  async function start(request: CallInput<'sanitize.start'>): Promise<void> {
    starting.value = true
    try {
      await useClient().call('sanitize.start', request)
      await ask()
    } catch (reason) {
      error.value = reason
    } finally {
      starting.value = false
    }
  }

  async function cancel(): Promise<void> {
    cancelling.value = true
    try {
      await useClient().call('sanitize.cancel', {})
      await ask()
    } catch (reason) {
      cancelling.value = false
      error.value = reason
    }
  }

  return { state, error, starting, cancelling, active, follow, start, cancel }
})
