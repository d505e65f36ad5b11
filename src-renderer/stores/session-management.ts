/** What the reader does with saved sessions; after each change the list is read anew. */
import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import { useClient } from '../client/current'
import type { DeletedSession } from '../../src-main/contract/session-management'
import { useSessionsStore } from './sessions'

export interface ImportFailure {
  file: string
  error: unknown
}

export const useSessionManagement = defineStore('session-management', () => {
  const sessions = useSessionsStore()
  const deleted = shallowRef<readonly DeletedSession[]>([])
  /** What could not be done, until the next thing is done. */
  const failure = shallowRef<unknown>(null)
  /** Name of the file that is being imported, and how many wait behind it. */
  const importing = shallowRef<{ file: string; waiting: number } | null>(null)
  const importFailures = shallowRef<readonly ImportFailure[]>([])

  async function loadDeleted(): Promise<void> {
    // A report has no trash; that its list stays empty says all there is to say.
    deleted.value = await useClient()
      .call('sessions.deleted', {})
      .catch(() => [])
  }

  /** Whether it was done. */
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

  /** One after the other; the refs of those that became sessions. */
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
