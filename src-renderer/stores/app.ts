import { defineStore } from 'pinia'
import { shallowReactive, shallowRef } from 'vue'
import type { AppInfo, CallOutput, DoctorReport } from '../../src-main/contract'
import { useClient } from '../client/current'
import { loading, track, type Loadable } from './loadable'

/** What is asked of the program itself: its version, this machine's tools, the ladders it knows. */
export const useAppStore = defineStore('app', () => {
  const info = shallowRef<Loadable<AppInfo>>(loading)
  const doctor = shallowRef<Loadable<DoctorReport>>(loading)
  /** What the recordings that ship measured, by ladder; asked for once. */
  const measured = shallowReactive(new Map<string, Loadable<CallOutput<'ladders.measured'>>>())
  const ladders = shallowRef<Loadable<CallOutput<'ladders.list'>>>(loading)

  const loadInfo = () => track(useClient().call('app.info', {}), (next) => (info.value = next))
  const loadDoctor = () =>
    track(useClient().call('doctor.check', {}), (next) => (doctor.value = next))
  const loadLadders = () =>
    track(useClient().call('ladders.list', {}), (next) => (ladders.value = next))

  const loadMeasured = async (ladder: string) => {
    if (measured.has(ladder)) return
    await track(useClient().call('ladders.measured', { ladder }), (next) =>
      measured.set(ladder, next),
    )
  }

  return { info, doctor, ladders, measured, loadInfo, loadDoctor, loadLadders, loadMeasured }
})
