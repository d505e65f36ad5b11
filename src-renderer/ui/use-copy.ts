/** Copies text to the clipboard and reports whether the browser allowed it. */
import { onBeforeUnmount, ref } from 'vue'

const shownMs = 2000

export function useCopy() {
  const copied = ref<'yes' | 'failed' | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined
  onBeforeUnmount(() => clearTimeout(timer))

  async function copy(text: string): Promise<void> {
    copied.value = await navigator.clipboard.writeText(text).then(
      () => 'yes' as const,
      () => 'failed' as const,
    )
    clearTimeout(timer)
    timer = setTimeout(() => (copied.value = null), shownMs)
  }
  return { copied, copy }
}
