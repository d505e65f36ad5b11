import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef, watch, ref } from 'vue'
import type { AppInfo, CallOutput, DoctorReport } from '../../src-main/contract/index'
import { useClient } from '../client/client'
import { inLanguage } from './in-language'
import { loading, mapValue, track, type Loadable, valueOf } from './loadable'
import { rungOf, type RungResult, type Session } from '../../src-main/domain/session/session'
import { keptText } from '../ui/preferences'
import { useSessionsStore } from './sessions'

/** Data about the app itself: its version, this machine's tools, the known ladders. */
export const useAppStore = defineStore('app', () => {
  const info = shallowRef<Loadable<AppInfo>>(loading)
  const doctor = shallowRef<Loadable<DoctorReport>>(loading)
  /** Measurements of the shipped recordings, by ladder; fetched once. */
  const measured = shallowReactive(new Map<string, Loadable<CallOutput<'ladders.measured'>>>())
  const listed = shallowRef<Loadable<CallOutput<'ladders.list'>>>(loading)
  const ladders = computed(() => mapValue(listed.value, inLanguage))

  const loadInfo = () => track(useClient().call('app.info', {}), (next) => (info.value = next))
  const loadDoctor = () =>
    track(useClient().call('doctor.check', {}), (next) => (doctor.value = next))
  const loadLadders = () =>
    track(useClient().call('ladders.list', {}), (next) => (listed.value = next))

  const loadMeasured = async (ladder: string) => {
    if (measured.has(ladder)) return
    await track(useClient().call('ladders.measured', { ladder }), (next) =>
      measured.set(ladder, next),
    )
  }

  return { info, doctor, ladders, measured, loadInfo, loadDoctor, loadLadders, loadMeasured }
})

// The rungs that the whole UI points at: the one that figures are held against, and those under the pointer.

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
