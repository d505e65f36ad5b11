import { defineStore } from 'pinia'
import { computed, shallowRef, watch } from 'vue'
import type { FolderView, RecentFolder } from '../../src-main/contract/folders'
import type { Ladder } from '../../src-main/domain/ladder/ladder'
import { useClient } from '../client/client'
import { inLanguage } from './in-language'
import { loading, mapValue, track, valueOf, type Loadable } from './loadable'
import type { CallInput, CallOutput } from '../../src-main/contract/index'
import { useRunStore } from './run'

/** A ladder that the user can select. Requests identify the ladder by id or folder. */
export interface NamedLadder {
  name: string
  ladder: Ladder
  /** The ladder's folder, or null for a built-in ladder. */
  folder: RecentFolder | null
}

export const shippedLadders = (ladders: readonly Ladder[]): NamedLadder[] =>
  ladders.map((ladder) => ({ name: ladder.id, ladder, folder: null }))

/** The user's ladder folders: the recent folders and the open folder. */
export const useFoldersStore = defineStore('folders', () => {
  const listed = shallowRef<Loadable<RecentFolder[]>>(loading)
  const list = computed(() => mapValue(listed.value, inLanguage))
  const opened = shallowRef<Loadable<FolderView>>(loading)
  const view = computed(() => mapValue(opened.value, inLanguage))
  /** The error of the last action. */
  const error = shallowRef<unknown>(null)

  const recent = computed(() => valueOf(list.value) ?? [])
  /**
   * The ladders in the user's folders. Untrusted folders are included, because the form checks
   * trust.
   */
  const ladders = computed((): NamedLadder[] =>
    recent.value.flatMap((folder) =>
      folder.ladder ? [{ name: folder.path, ladder: folder.ladder, folder }] : [],
    ),
  )

  const loadList = () =>
    track(
      useClient()
        .call('folders.list', {})
        .then(({ folders }) => folders),
      (next) => {
        if (next.state !== 'loading' || listed.value.state !== 'ready') listed.value = next
      },
    )

  /** Loads a folder. During a reload, the old view stays until the new one arrives. */
  async function load(path: string): Promise<FolderView | null> {
    const same = valueOf(opened.value)?.path === path
    if (!same) error.value = null
    await track(useClient().call('folders.open', { path }), (next) => {
      if (next.state === 'ready' || !same) opened.value = next
      if (next.state === 'failed' && same) error.value = next.error
    })
    void loadList()
    return valueOf(view.value) ?? null
  }

  async function attempt(work: () => Promise<unknown>): Promise<boolean> {
    error.value = null
    try {
      await work()
      return true
    } catch (caught) {
      error.value = caught
      return false
    }
  }

  async function forget(path: string): Promise<void> {
    await attempt(() => useClient().call('folders.forget', { path }))
    await loadList()
  }

  async function trust(path: string): Promise<void> {
    if (await attempt(() => useClient().call('folders.trust', { path }))) await load(path)
  }

  return { list, view, error, recent, ladders, loadList, load, forget, trust }
})

/** Polling interval in milliseconds while a screen shows the watched folder. */
const pollMs = 500

/** The folder whose ladder runs again on every save. */
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

  /** Polls until the caller calls the returned function. */
  function follow(): () => void {
    followers += 1
    void ask()
    // Poll immediately when a run ends.
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
