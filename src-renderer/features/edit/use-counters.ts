/** What a rung would count: asked anew at each pause in typing, in the background. */
import { computed, onBeforeUnmount, ref, shallowRef, watch, type Ref } from 'vue'
import { toErrorShape, type ErrorShape } from '../../../src-main/domain/errors'
import type { RungCounters } from '../../../src-main/contract/rung-builds'

/** Milliseconds without a keystroke: longer than for saving, since each question starts a compiler. */
const pauseMs = 1000

export function useCounters(
  source: Readonly<Ref<string>>,
  /** Asks about the source as it is now; null where there is nothing to ask about. */
  ask: () => Promise<RungCounters> | null,
) {
  /** The last answer; an older one stays in view while a newer text is being counted. */
  const counters = shallowRef<RungCounters | null>(null)
  /** The text that it is about. */
  const counted = ref<string | null>(null)
  const counting = ref(false)
  const error = shallowRef<ErrorShape | null>(null)
  /** Without a compiler there is nothing to ask. */
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
      // Another window counts its own copy.
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
    /** Whether they are about what stands in the editor now. */
    areCurrent: computed(() => counted.value === source.value),
    counting,
    error,
    possible,
  }
}
