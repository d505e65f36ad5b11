/** Which languages there are, and which one the page is in. The words are loaded in i18n.ts. */
import { ref } from 'vue'

/** Each in its own language, for whoever cannot read the present one. */
export const languages = { en: 'English', ko: '한국어', 'zh-CN': '简体中文' } as const
export type Language = keyof typeof languages

export const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name)

/** The language shown. */
export const language = ref<Language>('en')

/** The first language a reader asks for that there is; Chinese of any kind is met with Simplified. */
export function pickLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [primary] = tag.toLowerCase().split('-')
    if (primary === 'zh') return 'zh-CN'
    if (primary !== undefined && isLanguage(primary)) return primary
  }
  return 'en'
}
