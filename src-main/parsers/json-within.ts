/**
 * Parses untrusted JSON. A short text can become a large object, so the values are counted before
 * parsing.
 */
import { errorText } from '../domain/errors'
import { message, type Statement } from '../domain/messages/message'

/**
 * Maximum number of values, which is ten times the number in a report with deep profiles of a
 * hundred rungs. Parsed objects of this size take a few hundred megabytes.
 */
export const mostValues = 5_000_000

/**
 * Returns an upper bound on the number of values in the text. Every value after the first follows a
 * comma or an opening bracket. Commas and brackets inside strings are counted too.
 */
function countValues(text: string, most: number): number {
  let count = 1
  for (let at = 0; at < text.length && count <= most; at += 1) {
    const character = text.charCodeAt(at)
    // 44, 91, and 123 are the character codes of `,`, `[`, and `{`.
    if (character === 44 || character === 91 || character === 123) count += 1
  }
  return count
}

/** Returns the parsed value, or the reason that the text was rejected. */
export function parseJsonWithin(
  text: string,
  most = mostValues,
): { value: unknown } | { refused: Statement } {
  // Don't count the values in a short text, because it cannot contain more values than characters.
  if (text.length > most && countValues(text, most) > most)
    return { refused: message('files.tooMany', { most }) }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { refused: message('files.notJson', { text: errorText(error) }) }
  }
}
