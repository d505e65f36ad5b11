/** The words of the screens in the current language, by dotted key. */
import { shallowRef } from 'vue'
import { fill, type Values } from '../../src-main/domain/messages/format'
import en from '../locales/en/screens.json'
import { language, type Language } from './language'

export interface Words {
  [key: string]: string | Words
}

const byKey = (words: Words, path = ''): [string, string][] =>
  Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'string' ? [[path + key, value]] : byKey(value, `${path}${key}.`),
  )

const english = new Map(byKey(en))
const current = shallowRef(english)

/** Makes a sentence right for the values that were set into it: particles, gaps. `before` is what stands before the text. */
export type Settle = (text: string, before?: string) => string
let settle: Settle | undefined
export const settled: Settle = (text, before) => settle?.(text, before) ?? text

/** Changes the language; without words of its own, to English. */
export function speak(name: Language, words?: Words, way?: Settle): void {
  settle = way
  language.value = name
  current.value = words ? new Map(byKey(words)) : english
}

/** The template under a key, if the current language has it. */
export const wordsAt = (key: string): string | undefined => current.value.get(key)

/** The words under a key with their values inserted; the key itself if there are none. */
export const t = (key: string, values: Values = {}): string => {
  const template = wordsAt(key) ?? english.get(key)
  return template === undefined ? key : settled(fill(template, values, language.value).join(''))
}
