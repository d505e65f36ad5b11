/** Sessions: the list, the open ones with their deep profiles, and what is done with saved ones. */
import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef, type ComputedRef } from 'vue'
import type { SessionSummary } from '../../src-main/contract/index'
import type { Session } from '../../src-main/domain/session/session'
import { useClient } from '../client/client'
import { inLanguage, sessionInLanguage } from './in-language'
import { loading, mapValue, track, type Loadable } from './loadable'
import type { DeepProfile } from '../../src-main/domain/session/deep'
import type { DeletedSession } from '../../src-main/contract/sessions'

/** Sessions are immutable, so a fetched one is cached; shallowly reactive. */
export const useSessionsStore = defineStore('sessions', () => {
  const listed = shallowRef<Loadable<SessionSummary[]>>(loading)
  const list = computed(() => mapValue(listed.value, inLanguage))
  const fetched = shallowReactive(new Map<string, Loadable<Session>>())
  const shown = new Map<string, ComputedRef<Loadable<Session> | undefined>>()
  /** As fetched, but with the texts of its ladder in the language of the UI. */
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
  /** The session shown in the frame, which Ladder and Compare lead back to. */
  const currentRef = shallowRef<string | null>(null)

  /** On reload, the old list stays until the new one arrives. */
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

  /** Loads a session for callers outside a screen; rejects if the call fails. */
  async function load(ref: string): Promise<Session> {
    const known = fetched.get(ref)
    const session =
      known?.state === 'ready' ? known.value : await useClient().call('sessions.get', { ref })
    fetched.set(ref, { state: 'ready', value: session })
    return sessionInLanguage(session)
  }

  /** Call after deletion: a new session may take the same name. */
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

/** Deep profiles by session and rung, fetched on demand; null if there is none. Shallowly reactive. */
export const useDeepStore = defineStore('deep', () => {
  const profiles = shallowReactive(new Map<string, Loadable<DeepProfile | null>>())
  const key = (ref: string, rung: string): string => `${ref} ${rung}`

  function open(ref: string, rung: string): void {
    const known = profiles.get(key(ref, rung))
    if (known && known.state !== 'failed') return
    void track(useClient().call('sessions.deep', { ref, rung }), (next) =>
      profiles.set(key(ref, rung), next),
    )
  }

  const of = (ref: string, rung: string): Loadable<DeepProfile | null> | undefined =>
    profiles.get(key(ref, rung))

  return { open, of }
})

// Actions on saved sessions; the list is reloaded after each change.

export interface ImportFailure {
  file: string
  error: unknown
}

export const useSessionManagement = defineStore('session-management', () => {
  const sessions = useSessionsStore()
  const deleted = shallowRef<readonly DeletedSession[]>([])
  /** Error of the last action, until the next one. */
  const failure = shallowRef<unknown>(null)
  /** The file being imported, and the number of files waiting. */
  const importing = shallowRef<{ file: string; waiting: number } | null>(null)
  const importFailures = shallowRef<readonly ImportFailure[]>([])

  async function loadDeleted(): Promise<void> {
    // A report has no trash: its list simply stays empty.
    deleted.value = await useClient()
      .call('sessions.deleted', {})
      .catch(() => [])
  }

  /** True on success. */
  async function change(work: Promise<unknown>): Promise<boolean> {
    failure.value = null
    const done = await work.then(
      () => true,
      (error: unknown) => {
        failure.value = error
        return false
      },
    )
    await Promise.all([sessions.loadList(), loadDeleted()])
    return done
  }

  const rename = (ref: string, title: string | null) =>
    change(useClient().call('sessions.rename', { ref, title }))

  async function remove(ref: string): Promise<boolean> {
    const done = await change(useClient().call('sessions.delete', { ref }))
    if (done) sessions.forget(ref)
    return done
  }

  const restore = (ref: string) => change(useClient().call('sessions.restore', { ref }))

  /** Imports files in sequence; returns the refs of the new sessions. */
  async function importFiles(files: readonly File[]): Promise<string[]> {
    const { importFile } = useClient()
    if (!importFile || importing.value) return []
    const refs: string[] = []
    const failures: ImportFailure[] = []
    importFailures.value = []
    for (const [index, file] of files.entries()) {
      importing.value = { file: file.name, waiting: files.length - index - 1 }
      try {
        refs.push((await importFile(file)).ref)
      } catch (error) {
        failures.push({ file: file.name, error })
        importFailures.value = [...failures]
      }
    }
    importing.value = null
    await sessions.loadList()
    return refs
  }

  return {
    deleted,
    failure,
    importing,
    importFailures,
    loadDeleted,
    rename,
    remove,
    restore,
    importFiles,
  }
})
