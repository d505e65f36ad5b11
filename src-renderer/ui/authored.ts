/**
 * Translates the text of the built-in ladders and labs (titles, ideas, notes, lab pages) into the
 * UI language. Each translation has the hashes of the English strings that it matches. A string
 * without a translation is shown in English.
 */
import { shallowReactive } from 'vue'

/**
 * Translations, nested by the owner of the text. Leaf keys are `name hash…`, with one hash for each
 * English wording that the translation matches. The current wording comes first, followed by the
 * wordings of older sessions.
 */
export interface Translations {
  [key: string]: string | Translations
}

interface Translation {
  /** The path of keys, including the name, joined by `/`. */
  at: string
  /** Hashes of the English strings that the translation matches. */
  hashes: string[]
  text: string
}

export function translationsIn(words: Translations, path: readonly string[] = []): Translation[] {
  return Object.entries(words).flatMap(([key, value]) => {
    if (typeof value !== 'string') return translationsIn(value, [...path, key])
    const [name, ...hashes] = key.split(' ')
    return [{ at: [...path, name].join('/'), hashes, text: value.trim() }]
  })
}

/**
 * Returns the text's FNV-1a hash as eight hex digits. Whitespace differences do not affect the
 * hash.
 */
export function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text.trim().replaceAll(/\s+/g, ' '))
    hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

interface Part {
  byHash: ReadonlyMap<string, string>
  /** The available translations, by the path of the text. */
  byPlace: ReadonlyMap<string, readonly string[]>
}

/** The loaded translations. The map is empty if the UI is in English. */
const parts = shallowReactive(new Map<string, Part>())

/** Sets or removes the translations of ladders or labs. */
export function learn(part: 'ladders' | 'labs', words: Translations | null): void {
  if (!words) {
    parts.delete(part)
    return
  }
  const byHash = new Map<string, string>()
  const byPlace = new Map<string, string[]>()
  for (const { at, hashes, text } of translationsIn(words)) {
    for (const hash of hashes) byHash.set(hash, text)
    byPlace.set(at, [...(byPlace.get(at) ?? []), text])
  }
  parts.set(part, { byHash, byPlace })
}

/** Returns whether translations for the UI language are loaded. */
export const isTranslating = (): boolean => parts.size > 0

/**
 * Returns the translation of a string, or the string itself if its exact wording has no
 * translation.
 */
export function own(text: string): string {
  if (!isTranslating()) return text
  const hash = hashOf(text)
  for (const { byHash } of parts.values()) {
    const found = byHash.get(hash)
    if (found !== undefined) return found
  }
  return text
}

/** Returns whether all translations of a string are for a different English wording. */
export function isBehind(at: string, text: string): boolean {
  for (const { byPlace } of parts.values()) {
    const known = byPlace.get(at)
    if (known) return !known.includes(own(text).trim())
  }
  return false
}
