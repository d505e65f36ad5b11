/** Characters of a text that hide, made visible before a printer gives the text a format. */

/** Controls, text direction marks, joiners and lone surrogates: what changes a text unseen. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** A character by its number: `U+202E`. */
export const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/** Names each hidden character in brackets; line ends and tabs stay. */
export const visible = (text: string): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(hidden, (character) =>
      character === '\n' || character === '\t' ? character : `[${codePoint(character)}]`,
    )

/** Visible text on one line, for a cell or a list item. */
export const oneLine = (text: string): string => visible(text).replace(/\s+/g, ' ').trim()

/** JSON in which hidden characters are escapes: the same value, and nothing that hides. */
export const escapeHidden = (json: string): string =>
  json.replace(hidden, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
          .join(''),
  )

export const visibleJson = (value: unknown): string =>
  `${escapeHidden(JSON.stringify(value, null, 2))}\n`
