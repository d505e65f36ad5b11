/** An open folder's files. Each file has its own edited text and is saved in place. */
import { computed, onBeforeUnmount, reactive, ref, type Ref } from 'vue'
import { onBeforeRouteLeave, useRouter } from 'vue-router'
import type { FolderFile, FolderView } from '../../../src-main/contract/folders'
import { useClient } from '../../client/client'

export interface EditedFile extends FolderFile {
  /** The text in the editor. */
  edited: string
  /** A newer version that another program wrote to disk. Saving waits for the user's decision. */
  theirs: { text: string | null; version: string | null } | null
}

export function useFolderFiles() {
  const files = reactive(new Map<string, EditedFile>())
  const order = ref<string[]>([])
  const saving = ref(false)
  const saveError = ref<unknown>(null)
  const isDirty = ({ text, edited }: EditedFile): boolean => text !== edited
  const dirty = computed(() => [...files.values()].filter(isDirty).map(({ name }) => name))

  /**
   * Updates each file from disk unless the user edited it. If the user edited a file that also
   * changed on disk, marks a conflict.
   */
  function adopt(view: FolderView): void {
    for (const file of view.files) {
      const known = files.get(file.name)
      if (!known || !isDirty(known))
        files.set(file.name, { ...file, edited: file.text, theirs: null })
      else if (known.version === file.version || known.edited === file.text)
        files.set(file.name, { ...file, edited: known.edited, theirs: null })
      else known.theirs = { text: file.version === null ? null : file.text, version: file.version }
    }
    // If the ladder no longer lists a file, keep the file while it has unsaved edits.
    for (const [name, file] of files)
      if (!view.files.some((each) => each.name === name) && !isDirty(file)) files.delete(name)
    const named = view.files.map(({ name }) => name)
    order.value = [...named, ...[...files.keys()].filter((name) => !named.includes(name))]
  }

  /** Clears the list of files. Call this function when the user opens a different folder. */
  function clear(): void {
    files.clear()
    order.value = []
    saveError.value = null
  }

  /** Saves a file. Returns false if the call failed or the file changed on disk. */
  async function save(path: string, name: string): Promise<boolean> {
    const file = files.get(name)
    if (!file || file.theirs || saving.value) return false
    if (!isDirty(file)) return true
    const text = file.edited
    saving.value = true
    saveError.value = null
    try {
      const { version } = file
      const answer = await useClient().call('folders.save', { path, file: name, text, version })
      if (answer.state === 'changed') file.theirs = { text: answer.text, version: answer.version }
      else Object.assign(file, { text, version: answer.version })
      return answer.state === 'saved'
    } catch (error) {
      saveError.value = error
      return false
    } finally {
      saving.value = false
    }
  }

  /** Replaces the user's edits with the version on disk. */
  function reload(name: string): void {
    const file = files.get(name)
    if (!file?.theirs) return
    const text = file.theirs.text ?? ''
    Object.assign(file, { text, edited: text, version: file.theirs.version, theirs: null })
  }

  /** Overwrites the version on disk with the user's edits. */
  async function overwrite(path: string, name: string): Promise<boolean> {
    const file = files.get(name)
    if (!file?.theirs) return false
    Object.assign(file, {
      text: file.theirs.text ?? '',
      version: file.theirs.version,
      theirs: null,
    })
    // If both versions are identical by chance, nothing is written.
    return save(path, name)
  }

  return { files, order, dirty, saving, saveError, adopt, clear, save, reload, overwrite }
}

/**
 * Prevents users from leaving unsaved files by accident. If the user tries to leave, the returned
 * ref contains a function that leaves the page anyway.
 */
export function useLeaveGuard(dirty: Readonly<Ref<readonly string[]>>): Ref<(() => void) | null> {
  const router = useRouter()
  const leaving = ref<(() => void) | null>(null)
  const warn = (event: BeforeUnloadEvent): void => {
    if (dirty.value.length > 0) event.preventDefault()
  }
  window.addEventListener('beforeunload', warn)
  onBeforeUnmount(() => window.removeEventListener('beforeunload', warn))
  onBeforeRouteLeave((to) => {
    if (dirty.value.length === 0 || leaving.value) return true
    leaving.value = () => void router.push(to)
    return false
  })
  return leaving
}
