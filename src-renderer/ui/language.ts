/** The available UI languages and the current one. i18n.ts loads the locales. */
import { ref } from 'vue'

/** The name of each language in that language, for users who cannot read the current one. */
export const languages = { en: 'English', ko: '한국어', 'zh-CN': '简体中文' } as const

export type Language = keyof typeof languages

export const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name)

export const language = ref<Language>('en')

/**
 * Returns the first preferred language that is available. All variants of Chinese map to Simplified
 * Chinese.
 */
export function pickLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [primary] = tag.toLowerCase().split('-')
    if (primary === 'zh') return 'zh-CN'
    if (primary !== undefined && isLanguage(primary)) return primary
  }
  return 'en'
}
