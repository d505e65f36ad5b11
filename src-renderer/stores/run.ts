import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { CallInput, CallOutput, RunMessage } from '../../src-main/contract'
import { useClient } from '../client/client'
import { applyMessage, replay, type RunState } from './run-state'
import { useSessionsStore } from './sessions'

/** The current or last run. The store follows the event stream from app start. */
export const useRunStore = defineStore('run', () => {
  const state = shallowRef<RunState | null>(null)
  const lineDown = shallowRef(false)
  const startError = shallowRef<unknown>(null)
  const starting = shallowRef(false)
  const cancelling = shallowRef(false)
  /** Whether the server restarted during the run, which ends the run without an end message. */
  const orphaned = shallowRef(false)

  const active = computed(
    () => state.value !== null && state.value.finished === null && !orphaned.value,
  )

  function adopt(next: RunState | null): void {
    const justFinished = next?.finished && !state.value?.finished
    state.value = next
    if (!next?.finished) return
    cancelling.value = false
    if (justFinished) void useSessionsStore().loadList()
  }

  let received = 0
  let resyncing: Promise<void> | undefined
  let askAgain = false

  /** Replays the fetched messages, unless newer messages arrived during the fetch. */
  function reconcile({ messages, active }: CallOutput<'run.current'>, stale: boolean): void {
    const next = replay(messages)
    if (stale && state.value !== null) {
      if (next?.runId !== state.value.runId) askAgain = true
      if (next?.runId !== state.value.runId || next.nextSeq < state.value.nextSeq) return
    }
    adopt(next)
    orphaned.value = !active && next !== null && next.finished === null
  }

  async function fetchHistory(): Promise<void> {
    do {
      askAgain = false
      const before = received
      const current = await useClient().call('run.current', {})
      reconcile(current, received !== before)
    } while (askAgain)
  }

  /**
   * Fetches all messages of the current or last run. A call during a fetch makes the store fetch
   * once more.
   */
  function resync(): Promise<void> {
    askAgain = resyncing !== undefined
    resyncing ??= fetchHistory()
      .then(() => {
        lineDown.value = false
      })
      .catch(() => {
        lineDown.value = true
      })
      .finally(() => {
        resyncing = undefined
      })
    return resyncing
  }

  function receive(message: RunMessage): void {
    received += 1
    const applied = applyMessage(state.value, message)
    if (applied.kind === 'applied') {
      orphaned.value = false
      adopt(applied.state)
    } else if (applied.kind === 'gap') void resync()
  }

  function follow(): () => void {
    const stop = useClient().subscribe({
      message: receive,
      reconnected: () => void resync(),
      lost: () => (lineDown.value = true),
    })
    void resync()
    return stop
  }

  async function start(request: CallInput<'run.start'>): Promise<boolean> {
    starting.value = true
    startError.value = null
    try {
      await useClient().call('run.start', request)
      // Fetch all messages, because the first ones may arrive before the response, or the event
      // stream may be down.
      await resync()
      return true
    } catch (error) {
      startError.value = error
      return false
    } finally {
      starting.value = false
    }
  }

  async function cancel(): Promise<void> {
    if (!state.value || !active.value) return
    cancelling.value = true
    try {
      await useClient().call('run.cancel', { runId: state.value.runId })
    } catch (error) {
      startError.value = error
      cancelling.value = false
    }
  }

  return {
    state,
    lineDown,
    startError,
    starting,
    cancelling,
    orphaned,
    active,
    follow,
    resync,
    start,
    cancel,
  }
})
