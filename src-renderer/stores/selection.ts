/** The rungs that the whole UI points at: the one that figures are held against, and those under the pointer. */
import { defineStore } from 'pinia'
import { computed, watch, ref } from 'vue'
import { rungOf, type RungResult, type Session } from '../../src-main/domain/session/session'
import { keptText } from '../ui/preferences'
import { valueOf } from './loadable'
import { useSessionsStore } from './sessions'

// The rung, of any session, that figures are held against; kept until it is dropped.

export interface Baseline {
  ref: string
  session: Session
  rung: RungResult
}

export const useBaselineStore = defineStore('baseline', () => {
  const sessions = useSessionsStore()
  /** Session and rung; neither may hold a line break. */
  const kept = keptText('baseline')
  const at = computed(() => {
    const [ref, rung] = kept.value.split('\n')
    return ref && rung ? { ref, rung } : null
  })
  watch(at, (place) => place && sessions.fetch(place.ref), { immediate: true })

  /** Null without one, while it is loading, and if it is gone. */
  const baseline = computed<Baseline | null>(() => {
    const place = at.value
    const session = place ? valueOf(sessions.sessions.get(place.ref)) : undefined
    const rung = place && session && rungOf(session, place.rung)
    return place && session && rung ? { ref: place.ref, session, rung } : null
  })

  const is = (ref: string, rung: string): boolean => at.value?.ref === ref && at.value.rung === rung
  function pin(ref: string, rung: string): void {
    kept.value = `${ref}\n${rung}`
  }
  function drop(): void {
    kept.value = ''
  }
  return { at, baseline, is, pin, drop }
})

// The rungs of the open session that tables and charts point at together: the one under the pointer or the keys, those
// that were picked to be compared, and what the names are filtered by.

export const useRungFocusStore = defineStore('rung-focus', () => {
  const sessions = useSessionsStore()
  const hovered = ref<string | null>(null)
  const picked = ref<readonly string[]>([])
  /** As typed. */
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
