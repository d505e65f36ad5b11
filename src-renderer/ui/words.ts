/** UI strings in the current language, by dotted key. */
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

/**
 * Adjusts a sentence to the inserted values: particles and spaces. `before` is the text that
 * precedes the sentence.
 */
export type Settle = (text: string, before?: string) => string
let settle: Settle | undefined
export const settled: Settle = (text, before) => settle?.(text, before) ?? text

/** Changes the language. If the language has no strings, English is used. */
export function speak(name: Language, words?: Words, way?: Settle): void {
  settle = way
  language.value = name
  current.value = words ? new Map(byKey(words)) : english
}

/**
 * Returns the template for a key, or undefined if the current language has no template for the key.
 */
export const wordsAt = (key: string): string | undefined => current.value.get(key)

/** Returns the string for a key with its values inserted, or the key itself if no string exists. */
export const t = (key: string, values: Values = {}): string => {
  const template = wordsAt(key) ?? english.get(key)
  return template === undefined ? key : settled(fill(template, values, language.value).join(''))
}
