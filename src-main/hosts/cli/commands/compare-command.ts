/**
 * `kernel-ladder compare`: compares any two sessions. Pairs the kernels of the two sessions and
 * compares each pair.
 */
import { inputError } from '../../../domain/errors'
import { openNamed } from '../../../services/sessions/open-session'
import { describeSessions } from '../describe/describe-sessions'
import { printJson, printText } from '../output'
import { compareSessions } from '../../../domain/programs/compare-sessions'
import { unitsOf, type Unit } from '../../../domain/programs/units'
import { nearest } from '../../../domain/text/nearest'
import type { SessionPlaces } from '../../../services/sessions/session-places'
import { compareDocument } from '../documents/compare'

export interface CompareOptions {
  pair?: string[]
  json?: boolean
}

/** Parses `A=B`, which names one kernel from each session. An id may contain an equals sign. */
function parsePair(word: string, left: readonly Unit[], right: readonly Unit[]): [string, string] {
  for (let at = word.indexOf('='); at >= 0; at = word.indexOf('=', at + 1)) {
    const [a, b] = [word.slice(0, at).trim(), word.slice(at + 1).trim()]
    if (left.some(({ id }) => id === a) && right.some(({ id }) => id === b)) return [a, b]
  }
  const [, a, b] = /^([^=]+)=(.+)$/.exec(word) ?? []
  if (a === undefined || b === undefined)
    throw inputError(
      `--pair ${JSON.stringify(word)} is not of the form A=B.`,
      'Use a kernel of the first session and one of the second, as `compare` lists them.',
    )
  const isLeft = !left.some(({ id }) => id === a.trim())
  const [missing, units] = isLeft ? [a.trim(), left] : [b.trim(), right]
  const near = nearest(
    missing,
    units.map(({ id }) => id),
  )
  throw inputError(
    `The ${isLeft ? 'first' : 'second'} session has no kernel ${JSON.stringify(missing)}.`,
    near === null
      ? `It has: ${units
          .slice(0, 10)
          .map(({ id }) => id)
          .join(', ')}.`
      : `Did you mean ${near}?`,
  )
}

export async function compareCommand(
  places: SessionPlaces,
  first: string,
  second: string,
  { pair = [], json }: CompareOptions,
): Promise<number> {
  const [a, b] = [await openNamed(places, first), await openNamed(places, second)]
  const [left, right] = [unitsOf(a.session), unitsOf(b.session)]
  const byHand = pair.map((word) => parsePair(word, left, right))
  const comparison = compareSessions(a.session, b.session, { byHand })
  if (json) printJson(compareDocument, comparison)
  else printText(describeSessions(a.session, b.session, comparison))
  return 0
}
