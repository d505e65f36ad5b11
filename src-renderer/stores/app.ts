import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef } from 'vue'
import type { AppInfo, CallOutput, DoctorReport } from '../../src-main/contract/index'
import { useClient } from '../client/client'
import { inLanguage } from './in-language'
import { loading, mapValue, track, type Loadable } from './loadable'

/** Data about the app: its version, this machine's tools, and the known ladders. */
export const useAppStore = defineStore('app', () => {
  const info = shallowRef<Loadable<AppInfo>>(loading)
  const doctor = shallowRef<Loadable<DoctorReport>>(loading)
  /**
   * Measurements of the built-in recordings, by ladder. Each ladder's measurements are fetched
   * once.
   */
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
