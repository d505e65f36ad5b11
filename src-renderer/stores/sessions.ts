import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef, type ComputedRef } from 'vue'
import type { SessionSummary } from '../../src-main/contract/index'
import type { Session } from '../../src-main/domain/session/session'
import { useClient } from '../client/client'
import { inLanguage, sessionInLanguage } from './in-language'
import { loading, mapValue, track, type Loadable } from './loadable'

/**
 * The sessions. Sessions are immutable, so each fetched session is cached. The cache is shallowly
 * reactive.
 */
export const useSessionsStore = defineStore('sessions', () => {
  const listed = shallowRef<Loadable<SessionSummary[]>>(loading)
  const list = computed(() => mapValue(listed.value, inLanguage))
  const fetched = shallowReactive(new Map<string, Loadable<Session>>())
  const shown = new Map<string, ComputedRef<Loadable<Session> | undefined>>()
  /** Fetched sessions, with the text of their ladders in the UI language. */
  const sessions = {
    get(ref: string): Loadable<Session> | undefined {
      if (!shown.has(ref))
        shown.set(
          ref,
          computed(() => {
            const session = fetched.get(ref)
            return session && mapValue(session, sessionInLanguage)
          }),
        )
      return shown.get(ref)!.value
    },
  }
  const sources = shallowReactive(new Map<string, Loadable<Record<string, string>>>())
  /**
   * Ref of the session that the frame shows. The Ladder and Compare links return to the session in
   * the frame.
   */
  const currentRef = shallowRef<string | null>(null)

  /** Loads the session list. During a reload, the old list stays until the new one arrives. */
  const loadList = () =>
    track(useClient().call('sessions.list', {}), (next) => {
      if (next.state !== 'loading' || listed.value.state !== 'ready') listed.value = next
    })

  const settled = (loadable: Loadable<unknown> | undefined) =>
    loadable !== undefined && loadable.state !== 'failed'

  /** Fetches a session shown next to the current one. */
  function fetch(ref: string): void {
    if (settled(fetched.get(ref))) return
    void track(useClient().call('sessions.get', { ref }), (next) => fetched.set(ref, next))
  }

  function open(ref: string): void {
    currentRef.value = ref
    fetch(ref)
  }

  /** Loads a session for code outside of screens. Rejects if the call fails. */
  async function load(ref: string): Promise<Session> {
    const known = fetched.get(ref)
    const session =
      known?.state === 'ready' ? known.value : await useClient().call('sessions.get', { ref })
    fetched.set(ref, { state: 'ready', value: session })
    return sessionInLanguage(session)
  }

  /**
   * Removes a session from the cache. Call this function after a deletion, because a new session
   * can reuse the name.
   */
  function forget(ref: string): void {
    fetched.delete(ref)
    shown.delete(ref)
    sources.delete(ref)
    if (currentRef.value === ref) currentRef.value = null
  }

  function openSources(ref: string): void {
    if (settled(sources.get(ref))) return
    void track(useClient().call('sessions.sources', { ref }), (next) => sources.set(ref, next))
  }

  return { list, sessions, sources, currentRef, loadList, open, fetch, openSources, load, forget }
})
