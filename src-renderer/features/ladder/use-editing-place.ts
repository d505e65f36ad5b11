/**
 * The place to edit a rung, or null if the rung gets no edit link. Only the core knows whether a
 * ladder folder still exists.
 */
import { computed, shallowRef, watch, type Ref } from 'vue'
import type { EditingPlace } from '../../../src-main/contract/drafts'
import type { RungResult } from '../../../src-main/domain/session/session'
import { useClient } from '../../client/client'
import { useAppStore } from '../../stores/app'
import { valueOf } from '../../stores/loadable'

export function useEditingPlace(
  sessionRef: Readonly<Ref<string>>,
  rung: Readonly<Ref<RungResult>>,
): Readonly<Ref<EditingPlace | null>> {
  const app = useAppStore()
  /**
   * Whether the rung can be edited. Editing copies the rung's source, so it requires a rung that
   * was compiled from source. An HTML report cannot copy files.
   */
  const editable = computed(
    () =>
      rung.value.file !== '' &&
      valueOf(app.info) !== undefined &&
      valueOf(app.info)?.host !== 'report',
  )
  const place = shallowRef<EditingPlace | null>(null)
  watch(
    () => editable.value && ([sessionRef.value, rung.value.id] as const),
    async (asked) => {
      place.value = null
      if (!asked) return
      const [session, id] = asked
      const answer = await useClient()
        .call('drafts.place', { session, rung: id })
        .catch(() => null)
      if (sessionRef.value === session && rung.value.id === id) place.value = answer
    },
    { immediate: true },
  )
  return place
}
