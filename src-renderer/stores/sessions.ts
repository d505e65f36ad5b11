import { defineStore } from 'pinia'
import { shallowReactive, shallowRef } from 'vue'
import type { SessionSummary } from '../../src-main/contract'
import type { Session } from '../../src-main/domain/session/session'
import { useClient } from '../client/current'
import { loading, track, type Loadable } from './loadable'

/** Sessions are immutable, so that one that was fetched is kept; they are held shallowly. */
export const useSessionsStore = defineStore('sessions', () => {
  const list = shallowRef<Loadable<SessionSummary[]>>(loading)
  const sessions = shallowReactive(new Map<string, Loadable<Session>>())
  const sources = shallowReactive(new Map<string, Loadable<Record<string, string>>>())
  /** The session that the frame names and that Ladder and Compare lead back to. */
  const currentRef = shallowRef<string | null>(null)

  /** Loaded anew, the list on screen stays until the next one is there. */
  const loadList = () =>
    track(useClient().call('sessions.list', {}), (next) => {
      if (next.state !== 'loading' || list.value.state !== 'ready') list.value = next
    })

  const settled = (loadable: Loadable<unknown> | undefined) =>
    loadable !== undefined && loadable.state !== 'failed'

  /** For a session that stands beside the one on screen. */
  function fetch(ref: string): void {
    if (settled(sessions.get(ref))) return
    void track(useClient().call('sessions.get', { ref }), (next) => sessions.set(ref, next))
  }

  function open(ref: string): void {
    currentRef.value = ref
    fetch(ref)
  }

  /** The session itself, for what cannot wait on a screen; fails as the call does. */
  async function load(ref: string): Promise<Session> {
    const known = sessions.get(ref)
    if (known?.state === 'ready') return known.value
    const session = await useClient().call('sessions.get', { ref })
    sessions.set(ref, { state: 'ready', value: session })
    return session
  }

  /** After it was deleted: another of the same name may come. */
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
