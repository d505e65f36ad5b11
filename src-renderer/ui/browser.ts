/** What the browser does for a page: copying, downloading, and saying when it is idle. */
import { onBeforeUnmount, ref } from 'vue'

// Copies to the clipboard and reports the outcome: the browser may refuse.

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

/** Downloads a file through the browser. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Deferred: the download reads the URL after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** An idle period shorter than this, in milliseconds, lies between two frames that are being drawn. */
const restful = 30
const latestMs = 500

/** Resolves when the page has drawn what it has to draw and rests, or after half a second at the latest. */
export const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    const until = performance.now() + latestMs
    const look = (idle: IdleDeadline): void => {
      const left = until - performance.now()
      if (idle.didTimeout || idle.timeRemaining() > restful || left <= 0) resolve()
      else requestIdleCallback(look, { timeout: left })
    }
    requestIdleCallback(look, { timeout: latestMs })
  })
