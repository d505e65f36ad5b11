/** Finds the word that a misspelled word was probably meant to be. */
import { message, together, type Statement } from '../messages/message'

/** Letters inserted, left out or replaced between two words; two neighbors that changed places count as one. */
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

/** null if none is close: about a third of the letters may differ. */
export function nearest(word: string, known: readonly string[]): string | null {
  // Not worth comparing, and quadratic.
  if (word.length > 40) return null
  const [best] = known
    .map((one) => ({ one, away: distance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
  return best && best.away <= Math.ceil(Math.min(word.length, best.one.length) / 3)
    ? best.one
    : null
}

/** A sentence that asks for the name that was probably meant; null if none is near. */
export function meant(word: string, known: readonly string[]): Statement | null {
  const near = nearest(word, known)
  return near === null ? null : message('asked.meant', { name: near })
}

/** A sentence, after a space, that asks for the name that was probably meant; empty if none is near. */
export function askMeant(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === null ? '' : ` Did you mean ${near}?`
}

/** A remedy that begins with the name that was probably meant, if one is near. */
export function meantOr(word: string, known: readonly string[], remedy: Statement): Statement {
  const suggestion = meant(word, known)
  return suggestion === null ? remedy : together(suggestion, remedy)
}
