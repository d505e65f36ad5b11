/**
 * Imports files and opens the result. Opens a single session on the ladder screen. Opens several
 * sessions in the session list, which also shows errors.
 */
import { useRouter } from 'vue-router'
import { useSessionManagement } from '../../stores/session-management'

export function useImport(): (files: readonly File[]) => Promise<void> {
  const router = useRouter()
  const management = useSessionManagement()
  return async (files) => {
    if (files.length === 0) return
    const started = management.importFiles(files)
    // Show the sessions screen during the import, because that screen shows the progress.
    await router.push({ name: 'sessions' })
    const [first, ...more] = await started
    if (files.length === 1 && first !== undefined && more.length === 0)
      await router.push({ name: 'ladder', params: { sessionRef: first } })
  }
}
