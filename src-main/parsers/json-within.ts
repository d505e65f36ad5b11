/** Parses untrusted JSON. A few bytes of text can become a large object, so the values are counted first. */
import { errorText } from '../domain/errors'
import { message, type Statement } from '../domain/messages/message'

/** Ten times the values of a report with deep profiles of a hundred rungs; as objects, some hundreds of megabytes. */
export const mostValues = 5_000_000

/**
 * Returns an upper bound on the number of values: each except the first follows one of these characters, inside
 * strings or not.
 */
function countValues(text: string, most: number): number {
  let count = 1
  for (let at = 0; at < text.length && count <= most; at += 1) {
    const character = text.charCodeAt(at)
    // , [ {
    if (character === 44 || character === 91 || character === 123) count += 1
  }
  return count
}

/** Returns the value, or why the text has none. */
export function parseJsonWithin(
  text: string,
  most = mostValues,
): { value: unknown } | { refused: Statement } {
  // A text cannot have more values than characters.
  if (text.length > most && countValues(text, most) > most)
    return { refused: message('files.tooMany', { most }) }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { refused: message('files.notJson', { text: errorText(error) }) }
  }
}
