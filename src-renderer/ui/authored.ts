/**
 * What the authors of the ladders and labs that ship wrote (titles, ideas, notes, lab texts) in the language of the
 * UI. A translation names the English texts it was made from by their hashes; a text without one is shown as it is.
 */
import { shallowReactive } from 'vue'

/**
 * Nested by what a text belongs to. At the ends the key is `name hash…`, with a hash for each English wording that the
 * translation is true to: today's first, then those of older sessions.
 */
export interface Translations {
  [key: string]: string | Translations
}

interface Translation {
  /** The keys down to its name, joined by `/`. */
  at: string
  /** Of the English. */
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

/** FNV-1a of the text as eight hex digits; where its lines break does not matter. */
export function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text.trim().replaceAll(/\s+/g, ' '))
    hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

interface Part {
  byHash: ReadonlyMap<string, string>
  /** The texts in this language that there are of each place. */
  byPlace: ReadonlyMap<string, readonly string[]>
}

/** Empty in English. */
const parts = shallowReactive(new Map<string, Part>())

/** Sets the translations of a part, or drops them. */
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

/** Whether there is anything to translate into. */
export const isTranslating = (): boolean => parts.size > 0

/** The text in the language of the UI; as it is if there is no translation of this very wording. */
export function own(text: string): string {
  if (!isTranslating()) return text
  const hash = hashOf(text)
  for (const { byHash } of parts.values()) {
    const found = byHash.get(hash)
    if (found !== undefined) return found
  }
  return text
}

/** Whether this place was translated, but from another wording than that of `text`. */
export function isBehind(at: string, text: string): boolean {
  for (const { byPlace } of parts.values()) {
    const known = byPlace.get(at)
    if (known) return !known.includes(own(text).trim())
  }
  return false
}
