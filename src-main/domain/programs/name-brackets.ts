/** Brackets in the names of kernels. */

const opening = '<([{'

const closing = '>)]}'

/** Where the bracket that opens at `start` closes; the end of the text if it does not. */
export function closingOf(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    if (opening.includes(text[at]!)) depth += 1
    // `->` and comparisons in template arguments are no brackets.
    else if (closing.includes(text[at]!) && text[at - 1] !== '-') depth -= 1
    if (depth === 0) return at
  }
  return text.length
}

/** The first place outside brackets where a character of `wanted` is; -1 if there is none. */
export function findOutside(text: string, wanted: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (wanted.includes(text[at]!)) return at
    if (opening.includes(text[at]!)) at = closingOf(text, at)
  }
  return -1
}
