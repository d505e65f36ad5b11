/** The edited copy of a rung: opens it, saves it while the user types, builds and discards it. */
import { computed, onBeforeUnmount, ref, shallowRef, watch } from 'vue'
import type { CallOutput } from '../../../src-main/contract'
import { useClient } from '../../client/client'
import { loading, track, valueOf, type Loadable } from '../../stores/loadable'
import type { Draft } from '../../../src-main/domain/ladder/draft'

/** Milliseconds without a keystroke before the text is saved. */
const pauseMs = 700

type SaveState = 'untouched' | 'unsaved' | 'saving' | 'saved' | 'failed'

export function useDraft(session: () => string, rung: () => string) {
  const draft = shallowRef<Loadable<Draft>>(loading)
  const source = ref('')
  const saveState = ref<SaveState>('untouched')
  const savedAt = ref<string | null>(null)
  const saveError = shallowRef<unknown>(null)
  const built = shallowRef<Loadable<CallOutput<'drafts.build'>> | null>(null)
  const building = computed(() => built.value?.state === 'loading')
  /** The text as last saved in the core. */
  let kept = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  let saving: Promise<boolean> | undefined

  const body = (own: Draft) => {
    const { schema: _schema, savedAt: _savedAt, ...rest } = own
    return { ...rest, source: source.value }
  }

  async function open(): Promise<void> {
    built.value = null
    await track(
      useClient().call('drafts.open', { session: session(), rung: rung() }),
      (next) => (draft.value = next),
    )
    const own = valueOf(draft.value)
    if (!own) return
    kept = own.source
    source.value = own.source
    savedAt.value = own.savedAt
    saveState.value = own.savedAt === null ? 'untouched' : 'saved'
  }

  async function write(own: Draft): Promise<boolean> {
    const text = source.value
    saveState.value = 'saving'
    try {
      const answer = await useClient().call('drafts.save', body(own))
      kept = text
      savedAt.value = answer.savedAt
      saveError.value = null
      saveState.value = source.value === text ? 'saved' : 'unsaved'
      return true
    } catch (error) {
      saveError.value = error
      saveState.value = 'failed'
      return false
    }
  }

  /** Saves at once; false on failure. One save at a time, so that an older text never wins. */
  async function save(): Promise<boolean> {
    clearTimeout(timer)
    await saving
    const own = valueOf(draft.value)
    if (!own) return false
    if (kept === source.value && savedAt.value !== null) return true
    saving = write(own)
    return saving.finally(() => {
      saving = undefined
    })
  }

  watch(source, (text) => {
    if (draft.value.state !== 'ready' || text === kept) return
    saveState.value = 'unsaved'
    clearTimeout(timer)
    timer = setTimeout(() => void save(), pauseMs)
  })

  async function build(): Promise<void> {
    const own = valueOf(draft.value)
    if (!own || building.value) return
    await track(
      useClient().call('drafts.build', { session: session(), draft: body(own) }),
      (next) => (built.value = next),
    )
  }

  /** Deletes the copy and opens a fresh one. */
  async function discard(): Promise<void> {
    clearTimeout(timer)
    const own = valueOf(draft.value)
    if (own) await useClient().call('drafts.delete', { id: own.id })
    await open()
  }

  const flush = (): void => {
    if (saveState.value === 'unsaved') void save()
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
    /** The copy as it is typed now; null until it is open. */
    current: () => {
      const own = valueOf(draft.value)
      return own ? { session: session(), draft: body(own) } : null
    },
    source,
    saveState,
    savedAt,
    saveError,
    built,
    building,
    save,
    build,
    discard,
    reopen: () => void open(),
    /** A newer build than the one asked for by hand is known. */
    forget: () => {
      if (!building.value) built.value = null
    },
  }
}
