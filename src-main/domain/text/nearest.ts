/** Suggests the correct spelling of a misspelled word. */
import { message, together, type Statement } from '../messages/message'

/**
 * Returns the edit distance between two words. Edits are insertions, deletions, replacements, and
 * swaps of two adjacent letters.
 */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        row[j - 1]! + 1,
        last[j]! + 1,
        last[j - 1]! + (same ? 0 : 1),
        swapped && i > 1 && j > 1 ? before[j - 2]! + 1 : Infinity,
      )
    }
    before = last
    last = row
  }
  return last[b.length]!
}

/**
 * Returns the most similar known word. Returns null if more than about a third of the letters
 * differ.
 */
export function nearest(word: string, known: readonly string[]): string | null {
  // The comparison takes quadratic time, so there are no suggestions for long words.
  if (word.length > 40) return null
  const [best] = known
    .map((one) => ({ one, away: distance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
  return best && best.away <= Math.ceil(Math.min(word.length, best.one.length) / 3)
    ? best.one
    : null
}

/** Returns a sentence that suggests a similar name, or null if no name is similar. */
export function meant(word: string, known: readonly string[]): Statement | null {
  const near = nearest(word, known)
  return near === null ? null : message('asked.meant', { name: near })
}

/**
 * Returns a space and a sentence that suggests a similar name. Returns an empty string if no name
 * is similar.
 */
export function askMeant(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === null ? '' : ` Did you mean ${near}?`
}

/**
 * Returns a remedy. If a known name is similar to the word, the remedy starts by suggesting that
 * name.
 */
export function meantOr(word: string, known: readonly string[], remedy: Statement): Statement {
  const suggestion = meant(word, known)
  return suggestion === null ? remedy : together(suggestion, remedy)
}
