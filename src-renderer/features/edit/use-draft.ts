/**
 * A rung's edited copy. Opens the copy, saves it while the user types, builds it, and discards it.
 */
import { computed, onBeforeUnmount, shallowRef, watch } from 'vue'
import type { CallOutput } from '../../../src-main/contract'
import { useClient } from '../../client/client'
import { autosave, type Autosave } from '../../stores/autosave'
import { loading, track, valueOf, type Loadable } from '../../stores/loadable'
import type { Draft } from '../../../src-main/domain/ladder/draft'

/** Pause in typing, in milliseconds, before the text is saved. */
const pauseMs = 700

export function useDraft(session: () => string, rung: () => string) {
  const draft = shallowRef<Loadable<Draft>>(loading)
  const text = shallowRef<Autosave | null>(null)
  const built = shallowRef<Loadable<CallOutput<'drafts.build'>> | null>(null)
  const building = computed(() => built.value?.state === 'loading')
  const source = computed({
    get: () => text.value?.source.value ?? '',
    set: (value) => {
      if (text.value) text.value.source.value = value
    },
  })

  const body = ({ schema: _schema, ...own }: Draft) => ({ ...own, source: source.value })

  async function open(): Promise<void> {
    built.value = null
    await track(
      useClient().call('drafts.open', { session: session(), rung: rung() }),
      (next) => (draft.value = next),
    )
    const own = valueOf(draft.value)
    if (!own) return
    text.value = autosave({
      name: `rung:${own.ladder}/${own.parent}`,
      opened: own,
      pauseMs,
      async save(source, savedAt) {
        const { schema: _schema, ...rest } = valueOf(draft.value) ?? own
        const answer = await useClient().call('drafts.save', { ...rest, source, savedAt })
        // Another tab may have created the copy with a different id.
        if (answer.other) draft.value = { state: 'ready', value: { ...own, id: answer.other.id } }
        return { savedAt: answer.savedAt, other: answer.other?.source ?? null }
      },
    })
  }

  async function build(): Promise<void> {
    const own = valueOf(draft.value)
    if (!own || building.value) return
    await track(
      useClient().call('drafts.build', { session: session(), draft: body(own) }),
      (next) => (built.value = next),
    )
  }

  /** Deletes the copy and opens a new copy. */
  async function discard(): Promise<void> {
    await text.value?.end()
    const own = valueOf(draft.value)
    if (own) await useClient().call('drafts.delete', { id: own.id })
    await open()
  }

  const flush = (): void => {
    if (text.value?.state.value === 'unsaved') void text.value.flush()
  }
  const hidden = (): void => {
    if (document.visibilityState === 'hidden') flush()
  }
  document.addEventListener('visibilitychange', hidden)
  onBeforeUnmount(() => {
    document.removeEventListener('visibilitychange', hidden)
    flush()
  })

  watch([session, rung], () => void open(), { immediate: true })
  return {
    draft,
    /** Returns the copy with its current text, or null until the copy is open. */
    current: () => {
      const own = valueOf(draft.value)
      return own ? { session: session(), draft: body(own) } : null
    },
    source,
    saveState: computed(() => text.value?.state.value ?? 'untouched'),
    savedAt: computed(() => text.value?.savedAt.value ?? null),
    saveError: computed(() => text.value?.error.value ?? null),
    other: computed(() => text.value?.other.value ?? null),
    keepOwn: () => void text.value?.keepOwn(),
    takeOther: () => text.value?.takeOther(),
    built,
    building,
    /** Saves the copy even if it is unchanged. Returns false on failure. */
    save: () => text.value?.flush({ create: true }) ?? Promise.resolve(false),
    build,
    discard,
    reopen: () => void open(),
    /**
     * Discards the build that the user started. Call this function when the counters include a
     * later build of the copy.
     */
    forget: () => {
      if (!building.value) built.value = null
    },
  }
}
