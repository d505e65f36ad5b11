/**
 * Parses untrusted JSON. A short text can become a large object, so the values are counted first.
 */
import { errorText } from '../domain/errors'
import { message, type Statement } from '../domain/messages/message'

/**
 * The maximum number of values: ten times those of a report with deep profiles of a hundred rungs.
 * The parsed objects take a few hundred megabytes.
 */
export const mostValues = 5_000_000

/**
 * Returns an upper bound on the number of values in the text. Every value after the first follows a
 * comma or an opening bracket. The count includes such characters inside strings.
 */
function countValues(text: string, most: number): number {
  let count = 1
  for (let at = 0; at < text.length && count <= most; at += 1) {
    const character = text.charCodeAt(at)
    // Character codes of `,`, `[` and `{`.
    if (character === 44 || character === 91 || character === 123) count += 1
  }
  return count
}

/** Returns the parsed value, or the reason the text was rejected. */
export function parseJsonWithin(
  text: string,
  most = mostValues,
): { value: unknown } | { refused: Statement } {
  // A text cannot have more values than characters, so short texts need no count.
  if (text.length > most && countValues(text, most) > most)
    return { refused: message('files.tooMany', { most }) }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { refused: message('files.notJson', { text: errorText(error) }) }
  }
}
