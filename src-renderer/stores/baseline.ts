/**
 * The pinned baseline rung, from any session. Values are compared with the pinned rung. The rung
 * stays pinned until the user removes it.
 */
import { defineStore } from 'pinia'
import { computed, watch } from 'vue'
import { valueOf } from './loadable'
import { rungOf, type RungResult, type Session } from '../../src-main/domain/session/session'
import { storedText } from '../ui/preferences'
import { useSessionsStore } from './sessions'

interface Baseline {
  ref: string
  session: Session
  rung: RungResult
}

export const useBaselineStore = defineStore('baseline', () => {
  const sessions = useSessionsStore()
  /** The session and the rung, separated by a line break, which neither can contain. */
  const kept = storedText('baseline')
  const at = computed(() => {
    const [ref, rung] = kept.value.split('\n')
    return ref && rung ? { ref, rung } : null
  })
  watch(at, (place) => place && sessions.fetch(place.ref), { immediate: true })

  /**
   * The baseline, or null if no rung is pinned. The baseline is also null while it is loading or if
   * it no longer exists.
   */
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
