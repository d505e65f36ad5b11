/** Requests a rung's emulated counters in the background at each pause in typing. */
import { computed, onBeforeUnmount, ref, shallowRef, watch, type Ref } from 'vue'
import { toErrorShape, type ErrorShape } from '../../../src-main/domain/errors'
import type { RungCounters } from '../../../src-main/contract/rung-builds'

/**
 * Pause in typing, in milliseconds, before a request. This pause is longer than the pause before
 * saving, because each request starts a compiler.
 */
const pauseMs = 1000

export function useCounters(
  source: Readonly<Ref<string>>,
  /** Requests counters for the current source. Returns null if there is nothing to request. */
  ask: () => Promise<RungCounters> | null,
) {
  /**
   * The most recently received counters, which stay visible until counters for newer text arrive.
   */
  const counters = shallowRef<RungCounters | null>(null)
  /** The source to which `counters` belongs. */
  const counted = ref<string | null>(null)
  const counting = ref(false)
  const error = shallowRef<ErrorShape | null>(null)
  /** Whether counters are available. Without a compiler, every request fails. */
  const possible = ref(true)
  let timer: ReturnType<typeof setTimeout> | undefined
  let latest = 0

  async function count(): Promise<void> {
    if (!possible.value) return
    const text = source.value
    const request = ask()
    const own = (latest += 1)
    if (!request) {
      counters.value = null
      counting.value = false
      return
    }
    counting.value = true
    try {
      const answer = await request
      if (own !== latest) return
      counted.value = text
      counters.value = answer
      error.value = null
    } catch (failure) {
      if (own !== latest) return
      const shape = toErrorShape(failure)
      if (shape.kind === 'missing') possible.value = false
      // Show no error if another window requested counters for its own copy, which cancels this
      // request.
      error.value = shape.kind === 'cancelled' ? null : shape
    }
    counting.value = false
  }

  watch(source, () => {
    clearTimeout(timer)
    timer = setTimeout(() => void count(), pauseMs)
  })
  onBeforeUnmount(() => {
    clearTimeout(timer)
    latest = -1
  })
  return {
    counters,
    /** Whether the counters belong to the text now in the editor. */
    areCurrent: computed(() => counted.value === source.value),
    counting,
    error,
    possible,
  }
}
