/** What two languages must agree in: keys, the placeholders of each sentence, and its plural forms. */
export type Words = { [key: string]: string | Words }

/** What stands under a dotted key. */
export const wordAt = (words: Words, key: string): string | Words | undefined =>
  key
    .split('.')
    .reduce<string | Words | undefined>(
      (node, part) => (typeof node === 'object' ? node[part] : undefined),
      words,
    )

export interface Sentence {
  key: string
  text: string
}

/** Every sentence of a locale under its dotted key; a key may itself hold dots or signs. */
export const sentences = (words: Words, path: readonly string[] = []): Sentence[] =>
  Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [{ key: [...path, key].join('.'), text: value }]
      : sentences(value, [...path, key]),
  )

/** vue-i18n's `{name}`, and the `$` of the editor's own phrases. */
export const placeholders = (text: string): string[] =>
  [
    ...new Set([...text.matchAll(/\{\s*(\w+)\s*\}|(\$)/g)].map((found) => found[1] ?? found[2]!)),
  ].sort()

const forms = (text: string): number => text.split(' | ').length

/** What is wrong with a translation, a sentence a fault; none where it agrees with the original. */
export function translationFaults(original: Words, translated: Words): string[] {
  const wanted = new Map(sentences(original).map(({ key, text }) => [key, text]))
  const found = new Map(sentences(translated).map(({ key, text }) => [key, text]))
  return [
    ...[...wanted.keys()].filter((key) => !found.has(key)).map((key) => `${key} is missing`),
    ...[...found.keys()].filter((key) => !wanted.has(key)).map((key) => `${key} is not in English`),
    ...[...found].flatMap(([key, text]) => {
      const source = wanted.get(key)
      if (source === undefined) return []
      const [a, b] = [placeholders(source).join(', '), placeholders(text).join(', ')]
      return [
        ...(text.trim() === '' && source.trim() !== '' ? [`${key} is empty`] : []),
        ...(a === b
          ? []
          : [`${key} has the placeholders ${b || 'none'} in place of ${a || 'none'}`]),
        // A language without plurals says it once; where it says more, the forms are the same ones.
        ...([1, forms(source)].includes(forms(text)) ? [] : [`${key} has other plural forms`]),
      ]
    }),
  ]
}
