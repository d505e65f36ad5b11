/** Actions on saved sessions. Each change reloads the session list. */
import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import { useClient } from '../client/client'
import type { DeletedSession } from '../../src-main/contract/sessions'
import { useSessionsStore } from './sessions'

interface ImportFailure {
  file: string
  error: unknown
}

export const useSessionManagement = defineStore('session-management', () => {
  const sessions = useSessionsStore()
  const deleted = shallowRef<readonly DeletedSession[]>([])
  /** The error of the last action. The next action clears the error. */
  const failure = shallowRef<unknown>(null)
  /** The name of the file being imported, and the number of files that wait to be imported. */
  const importing = shallowRef<{ file: string; waiting: number } | null>(null)
  const importFailures = shallowRef<readonly ImportFailure[]>([])

  async function loadDeleted(): Promise<void> {
    // A report has no deleted sessions, so the list of deleted sessions stays empty.
    deleted.value = await useClient()
      .call('sessions.deleted', {})
      .catch(() => [])
  }

  /**
   * Waits for a change, and then reloads the lists of saved and deleted sessions. Returns whether
   * the change succeeded.
   */
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

  /** Imports files one after another. Returns the refs of the imported sessions. */
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
