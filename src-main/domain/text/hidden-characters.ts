/** Makes hidden characters in a text visible before the text is formatted for output. */

/**
 * Invisible characters that change a text: control characters, direction marks, joiners and lone
 * surrogates.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** Formats a character's code point, such as `U+202E`. */
export const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/**
 * Replaces each hidden character with its code point in brackets. Line breaks and tabs are kept.
 */
export const visible = (text: string): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(hidden, (character) =>
      character === '\n' || character === '\t' ? character : `[${codePoint(character)}]`,
    )

/**
 * Returns text on a single line for a table cell or a list item. Hidden characters become visible.
 */
export const oneLine = (text: string): string => visible(text).replace(/\s+/g, ' ').trim()

/** Escapes hidden characters in JSON. The parsed value does not change. */
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
