import { defineStore } from 'pinia'
import { shallowReactive, shallowRef } from 'vue'
import type { SessionSummary } from '../../src-main/contract'
import type { Session } from '../../src-main/domain/session/session'
import { useClient } from '../client/current'
import { loading, track, type Loadable } from './loadable'

/** Sessions are immutable, so a fetched one is cached; shallowly reactive. */
export const useSessionsStore = defineStore('sessions', () => {
  const list = shallowRef<Loadable<SessionSummary[]>>(loading)
  const sessions = shallowReactive(new Map<string, Loadable<Session>>())
  const sources = shallowReactive(new Map<string, Loadable<Record<string, string>>>())
  /** The session shown in the frame, which Ladder and Compare lead back to. */
  const currentRef = shallowRef<string | null>(null)

  /** On reload, the old list stays until the new one arrives. */
  const loadList = () =>
    track(useClient().call('sessions.list', {}), (next) => {
      if (next.state !== 'loading' || list.value.state !== 'ready') list.value = next
    })

  const settled = (loadable: Loadable<unknown> | undefined) =>
    loadable !== undefined && loadable.state !== 'failed'

  /** Fetches a session shown next to the current one. */
  function fetch(ref: string): void {
    if (settled(sessions.get(ref))) return
    void track(useClient().call('sessions.get', { ref }), (next) => sessions.set(ref, next))
  }

  function open(ref: string): void {
    currentRef.value = ref
    fetch(ref)
  }

  /** Loads a session for callers outside a screen; rejects if the call fails. */
  async function load(ref: string): Promise<Session> {
    const known = sessions.get(ref)
    if (known?.state === 'ready') return known.value
    const session = await useClient().call('sessions.get', { ref })
    sessions.set(ref, { state: 'ready', value: session })
    return session
  }

  /** Call after deletion: a new session may take the same name. */
  function forget(ref: string): void {
    sessions.delete(ref)
    sources.delete(ref)
    if (currentRef.value === ref) currentRef.value = null
  }

  function openSources(ref: string): void {
    if (settled(sources.get(ref))) return
    void track(useClient().call('sessions.sources', { ref }), (next) => sources.set(ref, next))
  }

  return { list, sessions, sources, currentRef, loadList, open, fetch, openSources, load, forget }
})
