import { defineStore } from 'pinia'
import { computed, shallowRef, watch } from 'vue'
import type { CallOutput } from '../../src-main/contract'
import type { LabBuildReport, LabView } from '../../src-main/contract/labs'
import { changeAnswers, LabAnswersChange } from '../../src-main/domain/labs/outcome'
import type { LabTarget } from '../../src-main/domain/targets/targets'
import { useClient } from '../client/client'
import { learn, type Translations } from '../ui/authored'
import { autosave, type Autosave } from './autosave'
import { dropUnsaved, keepUnsaved, readUnsaved } from './unsaved'
import { inLanguage, labInLanguage } from './in-language'
import { loading, mapValue, track, valueOf, type Loadable } from './loadable'
import { useRunStore } from './run'
import { language, type Language } from '../ui/language'

const saveAfterMs = 500

/**
 * Translations of the labs. The translations are long, so they are fetched only when labs are
 * shown.
 */
const texts: Record<Exclude<Language, 'en'>, () => Promise<{ default: Translations }>> = {
  ko: () => import('../locales/ko/labs.yaml'),
  'zh-CN': () => import('../locales/zh-CN/labs.yaml'),
}

async function learnLabs(): Promise<void> {
  const wanted = language.value
  const words = wanted === 'en' ? null : (await texts[wanted]()).default
  if (language.value === wanted) learn('labs', words)
}

const unsavedAnswers = (ref: string): string => `lab-answers:${ref}`

/**
 * The list of labs and the open lab. Code and answers are saved to the core shortly after each
 * change.
 */
export const useLabsStore = defineStore('labs', () => {
  const listed = shallowRef<Loadable<CallOutput<'labs.list'>>>(loading)
  const list = computed(() => mapValue(listed.value, inLanguage))
  const opened = shallowRef<Loadable<LabView>>(loading)
  const view = computed(() => mapValue(opened.value, labInLanguage))
  /** The code of the open lab. */
  const code = shallowRef<Autosave | null>(null)
  const build = shallowRef<LabBuildReport | null>(null)
  /** The source text of the last build. */
  const built = shallowRef<string | null>(null)
  const building = shallowRef(false)
  /** The error of the last action. */
  const error = shallowRef<unknown>(null)
  /** Run id of the check that was started in this tab. */
  const runId = shallowRef<string | null>(null)

  let learning: Promise<void>
  watch(
    language,
    () => {
      // If the translation cannot be loaded, labs are shown in English.
      learning = learnLabs().catch(() => undefined)
    },
    { immediate: true },
  )
  /** Returns a call's response after the translations have loaded. */
  const worded = async <T>(call: Promise<T>): Promise<T> => {
    const answer = await call
    await learning
    return answer
  }

  const loadList = () =>
    track(worded(useClient().call('labs.list', {})), (next) => {
      if (next.state !== 'loading' || listed.value.state !== 'ready') listed.value = next
    })

  /**
   * Loads a lab. During a reload of the same lab, the old view stays visible until the new view
   * arrives.
   */
  async function load(ref: string): Promise<void> {
    const same = valueOf(opened.value)?.ref === ref
    if (!same) {
      build.value = null
      error.value = null
    }
    await track(worded(useClient().call('labs.get', { ref })), (next) => {
      if (next.state !== 'loading' || !same) opened.value = next
    })
  }

  /** Runs `work`. On failure, stores the error for the screen and returns null. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | null> {
    error.value = null
    try {
      return await work()
    } catch (caught) {
      error.value = caught
      return null
    }
  }

  /**
   * Opens the code and the answers for editing. Restores edits that were unsaved when the page was
   * reloaded.
   */
  function edit(view: LabView): LabView['answers'] {
    const { ref } = view
    code.value = autosave({
      name: `lab:${ref}`,
      opened: { source: view.draft, savedAt: view.draftAt },
      pauseMs: saveAfterMs,
      save: async (source, replaces) => {
        const draft = { source, replaces }
        const { draftAt, other } = await useClient().call('labs.save', { ref, draft })
        return { savedAt: draftAt, other }
      },
    })
    const change = readUnsaved(unsavedAnswers(ref), LabAnswersChange)
    if (!change) return view.answers
    void answer(ref, change)
    return changeAnswers(view.answers, change)
  }

  /** The most recent call that saves answers. Later saves and checks wait for this call. */
  let saving: Promise<unknown> = Promise.resolve()

  /**
   * Saves an answer. Sends only the changed answers, because another tab may have changed the other
   * answers.
   */
  async function answer(ref: string, change: LabAnswersChange): Promise<void> {
    const name = unsavedAnswers(ref)
    const earlier = readUnsaved(name, LabAnswersChange)
    const answers = {
      predictions: { ...earlier?.predictions, ...change.predictions },
      questions: { ...earlier?.questions, ...change.questions },
    }
    keepUnsaved(name, answers)
    const save = saving.then(() => attempt(() => useClient().call('labs.save', { ref, answers })))
    saving = save
    const saved = await save
    const isCurrent =
      JSON.stringify(readUnsaved(name, LabAnswersChange)) === JSON.stringify(answers)
    if (saved && isCurrent) dropUnsaved(name)
  }

  async function runBuild(ref: string, source: string): Promise<void> {
    building.value = true
    build.value = await attempt(() => useClient().call('labs.build', { ref, source }))
    built.value = source
    building.value = false
  }

  async function check(ref: string, source: string, target: LabTarget): Promise<void> {
    await Promise.all([code.value?.flush(), saving])
    const started = await attempt(() => useClient().call('labs.check', { ref, source, target }))
    runId.value = started?.runId ?? null
    if (started) await useRunStore().resync()
  }

  async function hint(ref: string): Promise<void> {
    await attempt(() => useClient().call('labs.hint', { ref }))
    await load(ref)
  }

  async function solution(ref: string): Promise<void> {
    await attempt(() => useClient().call('labs.solution', { ref }))
    await load(ref)
  }

  async function reset(ref: string): Promise<void> {
    await code.value?.end()
    dropUnsaved(unsavedAnswers(ref))
    await attempt(() => useClient().call('labs.reset', { ref }))
    build.value = null
    await load(ref)
  }

  async function add(folder: string): Promise<string | null> {
    const added = await attempt(() => useClient().call('labs.add', { folder }))
    return added?.ref ?? null
  }

  async function trust(ref: string, contentHash: string): Promise<void> {
    await attempt(() => useClient().call('labs.trust', { ref, contentHash }))
    await load(ref)
  }

  const attemptOf = (ref: string, id: string) => useClient().call('labs.attempt', { ref, id })

  return {
    list,
    view,
    code,
    build,
    built,
    building,
    error,
    runId,
    loadList,
    load,
    edit,
    answer,
    runBuild,
    check,
    hint,
    solution,
    reset,
    add,
    trust,
    attemptOf,
  }
})
