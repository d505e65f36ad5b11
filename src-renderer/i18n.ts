/**
 * Loads the UI languages. English is bundled with the page; other languages are loaded on demand.
 */
import { watch } from 'vue'
import { keptChoice } from './ui/preferences'
import { learn, type Translations } from './ui/authored'
import { isLanguage, languages, pickLanguage, type Language } from './ui/language'
import { speak, type Settle, type Words } from './ui/words'

type LanguageChoice = 'system' | Language
export const languageChoices = [
  'system',
  ...Object.keys(languages).filter(isLanguage),
] as const satisfies readonly LanguageChoice[]
export const languageChoice = keptChoice<LanguageChoice>('language', languageChoices)

interface Locale {
  default: Words
  ladders: Translations
  /** Adjusts a sentence after values are inserted. */
  settle: Settle
}

const loaders: Record<Exclude<Language, 'en'>, () => Promise<Locale>> = {
  ko: () => import('./locales/ko'),
  'zh-CN': () => import('./locales/zh-CN'),
}

async function show(choice: LanguageChoice): Promise<void> {
  const name = choice === 'system' ? pickLanguage(navigator.languages) : choice
  const words = name === 'en' ? undefined : await loaders[name]()
  // The user may have chosen another language while this locale was loading.
  if (choice !== languageChoice.value) return
  learn('ladders', words?.ladders ?? null)
  speak(name, words?.default, words?.settle)
  document.documentElement.lang = name
}

/**
 * Applies the chosen language now and on every change. If a language cannot be loaded, English is
 * used.
 */
export async function followLanguage(): Promise<void> {
  const follow = (choice: LanguageChoice) => show(choice).catch(() => undefined)
  watch(languageChoice, follow)
  await follow(languageChoice.value)
}
