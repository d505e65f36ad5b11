/** Matches brackets in kernel names. */

const opening = '<([{'

const closing = '>)]}'

/**
 * Returns the position of the closing bracket for the bracket at `start`. Returns the text length
 * if there is no closing bracket.
 */
export function closingOf(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    if (opening.includes(text[at]!)) depth += 1
    // The `>` in `->` is not a bracket.
    else if (closing.includes(text[at]!) && text[at - 1] !== '-') depth -= 1
    if (depth === 0) return at
  }
  return text.length
}

/** Returns the position of the first character outside brackets that is in `wanted`, or -1. */
export function findOutside(text: string, wanted: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (wanted.includes(text[at]!)) return at
    if (opening.includes(text[at]!)) at = closingOf(text, at)
  }
  return -1
}
