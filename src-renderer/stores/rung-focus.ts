/**
 * The rungs of the open session that tables and charts highlight together. The highlighted rungs
 * are the rung under the pointer or keyboard focus, the picked rungs, and the rungs that match the
 * filter.
 */
import { defineStore } from 'pinia'
import { watch, ref } from 'vue'
import { useSessionsStore } from './sessions'

export const useRungFocusStore = defineStore('rung-focus', () => {
  const sessions = useSessionsStore()
  const hovered = ref<string | null>(null)
  const picked = ref<readonly string[]>([])
  /** The filter text, as the user typed it. */
  const filter = ref('')
  watch(
    () => sessions.currentRef,
    () => {
      hovered.value = null
      picked.value = []
      filter.value = ''
    },
  )
  function pick(id: string): void {
    picked.value = picked.value.includes(id)
      ? picked.value.filter((other) => other !== id)
      : [...picked.value, id]
  }
  return { hovered, picked, filter, pick }
})
