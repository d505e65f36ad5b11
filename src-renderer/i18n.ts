/** English is bundled with the page; other languages are loaded on demand. */
import { watch } from 'vue'
import { createI18n } from 'vue-i18n'
import en from './locales/en/screens.json'
import { keptChoice } from './ui/preferences'
import { learn, type Translations } from './ui/authored'
import { nameUnits } from './ui/format'
import { settled, settleWith, type Settle } from './ui/statement'
import { isLanguage, language, languages, pickLanguage, type Language } from './ui/language'

type LanguageChoice = 'system' | Language
export const languageChoices = [
  'system',
  ...Object.keys(languages).filter(isLanguage),
] as const satisfies readonly LanguageChoice[]
export const languageChoice = keptChoice<LanguageChoice>('language', languageChoices)

interface Locale {
  default: { unit: Record<string, string> }
  ladders: Translations
  /** What a sentence needs once values are set into it. */
  settle: Settle
}

const loaders: Record<Exclude<Language, 'en'>, () => Promise<Locale>> = {
  ko: () => import('./locales/ko'),
  'zh-CN': () => import('./locales/zh-CN'),
}

export const i18n = createI18n({
  legacy: false,
  locale: 'en' as string,
  fallbackLocale: 'en',
  messages: { en } as Record<string, typeof en>,
  postTranslation: (words) => (typeof words === 'string' ? settled(words) : words),
})

async function show(choice: LanguageChoice): Promise<void> {
  const name = choice === 'system' ? pickLanguage(navigator.languages) : choice
  let ladders: Translations | null = null
  let units: Record<string, string> = {}
  let settle: Settle | undefined
  if (name !== 'en') {
    const words = await loaders[name]()
    ladders = words.ladders
    units = words.default.unit
    settle = words.settle
    // Same keys as English, which test/renderer/words-and-colours.test.ts checks.
    i18n.global.setLocaleMessage(name, words.default as typeof en)
  }
  // The user may have switched again while the locale was loading.
  if (choice !== languageChoice.value) return
  learn('ladders', ladders)
  nameUnits(units)
  settleWith(settle)
  i18n.global.locale.value = name
  language.value = name
  document.documentElement.lang = name
}

/** Applies the chosen language now and on every change; falls back to English if it cannot be loaded. */
export async function followLanguage(): Promise<void> {
  const follow = (choice: LanguageChoice) => show(choice).catch(() => undefined)
  watch(languageChoice, follow)
  await follow(languageChoice.value)
}
