/**
 * Text that is saved while the user types. The text survives a reload and never overwrites a
 * version saved in another tab.
 */
import { computed, ref, shallowRef } from 'vue'
import { z } from 'zod'
import { dropUnsaved, keepUnsaved, readUnsaved } from './unsaved'

export interface Version {
  source: string
  /** Time of the last save, or null if the text was never saved. */
  savedAt: string | null
}

export type SaveState = 'untouched' | 'unsaved' | 'saving' | 'saved' | 'failed' | 'conflict'

const Unsaved = z.object({
  source: z.string(),
  replaces: z.string().nullable(),
  /** The text of a save that has no response yet. */
  sent: z.string().optional(),
})

interface Options {
  /** A name that identifies the text. */
  name: string
  opened: Version
  /** Pause in typing, in milliseconds, before the text is saved. */
  pauseMs: number
  /**
   * Saves the text. If the response has `other`, a version newer than `replaces` exists and nothing
   * was saved.
   */
  save(
    source: string,
    replaces: string | null,
  ): Promise<{ savedAt: string | null; other: string | null }>
}

export type Autosave = ReturnType<typeof autosave>

export function autosave({ name, opened, pauseMs, save }: Options) {
  const unsaved = readUnsaved(name, Unsaved)
  const text = ref(unsaved?.source ?? opened.source)
  const state = ref<SaveState>(opened.savedAt === null ? 'untouched' : 'saved')
  const error = shallowRef<unknown>(null)
  /**
   * A version saved in another tab. The user must choose between that version and the text in this
   * tab.
   */
  const other = shallowRef<Version | null>(null)
  // If a save before the reload succeeded but its response was lost, the core's version is from
  // this tab.
  const isOwn = unsaved === null || unsaved.sent === opened.source
  const saved = shallowRef<Version>(
    isOwn ? opened : { source: opened.source, savedAt: unsaved.replaces },
  )
  /** The text of a save that has no response yet. */
  let sent = unsaved?.sent
  let timer: ReturnType<typeof setTimeout> | undefined
  let saving: Promise<boolean> | undefined

  const keep = (): void =>
    keepUnsaved(name, { source: text.value, replaces: saved.value.savedAt, sent })

  function settle(): void {
    dropUnsaved(name)
    state.value = saved.value.savedAt === null ? 'untouched' : 'saved'
  }

  async function write(): Promise<boolean> {
    const source = text.value
    const before = sent
    sent = source
    state.value = 'saving'
    keep()
    try {
      const answer = await save(source, saved.value.savedAt)
      sent = undefined
      error.value = null
      if (answer.other !== null && answer.other !== source && answer.other !== before) {
        other.value = { source: answer.other, savedAt: answer.savedAt }
        state.value = 'conflict'
        keep()
        return false
      }
      saved.value = { source: answer.other ?? source, savedAt: answer.savedAt }
      if (text.value === saved.value.source) settle()
      else {
        state.value = 'unsaved'
        keep()
      }
      // The other version is an earlier save of this tab, whose response was lost.
      return saved.value.source === source || (await write())
    } catch (failure) {
      error.value = failure
      state.value = 'failed'
      return false
    }
  }

  /**
   * Saves at once. Returns false on failure. Saves run one at a time, so that an older text never
   * replaces a newer one. With `create`, saves even an unchanged text that was never saved.
   */
  async function flush({ create = false } = {}): Promise<boolean> {
    clearTimeout(timer)
    await saving
    if (other.value) return false
    if (text.value === saved.value.source && !(create && saved.value.savedAt === null)) {
      settle()
      return true
    }
    saving = write()
    return saving.finally(() => {
      saving = undefined
    })
  }

  function type(value: string): void {
    if (value === text.value) return
    text.value = value
    keep()
    if (other.value) return
    state.value = 'unsaved'
    clearTimeout(timer)
    timer = setTimeout(() => void flush(), pauseMs)
  }

  /** Resolves a conflict by keeping the text in this tab. */
  async function keepOwn(): Promise<boolean> {
    if (other.value) saved.value = other.value
    other.value = null
    return flush()
  }
  /** Resolves a conflict by replacing this tab's text with the version saved in another tab. */
  function takeOther(): void {
    if (!other.value) return
    saved.value = other.value
    text.value = other.value.source
    other.value = null
    settle()
  }

  /** Discards the unsaved text. */
  async function end(): Promise<void> {
    clearTimeout(timer)
    await saving
    dropUnsaved(name)
  }

  if (unsaved) void flush()
  return {
    source: computed({ get: () => text.value, set: type }),
    state,
    savedAt: computed(() => saved.value.savedAt),
    error,
    other,
    flush,
    keepOwn,
    takeOther,
    end,
  }
}
