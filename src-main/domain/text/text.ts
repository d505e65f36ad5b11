/** Text for people: messages as words, the word that was probably meant, and hidden characters made visible. Pure. */
import { metricDefinition } from '../metrics/metrics'
import { templates } from '../messages/english/index'
import {
  englishTemplate,
  isMessageKey,
  placeholder,
  type MessageKey,
  type MessageValue,
  type Statement,
  isList,
  message,
  together,
  type Sentence,
} from '../messages/message'

// Makes hidden characters of a text visible before a printer formats it.

/** Controls, direction marks, joiners and lone surrogates: characters that change a text invisibly. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** A character's code point: `U+202E`. */
export const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/** Replaces each hidden character by its code point in brackets; line ends and tabs are kept. */
export const visible = (text: string): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(hidden, (character) =>
      character === '\n' || character === '\t' ? character : `[${codePoint(character)}]`,
    )

/** Visible text on one line, for a cell or list item. */
export const oneLine = (text: string): string => visible(text).replace(/\s+/g, ' ').trim()

/** JSON with hidden characters escaped: the same value, without invisible text. */
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

// Renders messages as text. The English templates are in ../messages/english and are used by the command line and
// reports; a screen inserts the same values into its own language's templates. Pure.

/** A language's templates, metric names, and its version of what an author wrote. */
export interface Wording {
  template(key: MessageKey): string
  metric(id: string): string
  text(text: string): string
}

const inDomain: Wording = {
  template: englishTemplate,
  metric: (id) => (id === 'time' ? templates.figures.time : (metricDefinition(id)?.label ?? id)),
  text: (text) => text,
}

const joined = (parts: readonly Sentence[], by: string): Sentence =>
  parts.flatMap((part, index) => (index === 0 ? part : [by, ...part]))

function valuePieces(value: MessageValue, wording: Wording): Sentence {
  if (typeof value === 'string') return [wording.text(value)]
  if (typeof value === 'number') return [String(value)]
  if (isList(value))
    return joined(
      value.map((one) => pieces(one, wording)),
      wording.template('part.separator'),
    )
  if ('code' in value) return [value]
  if ('metric' in value) return [wording.metric(value.metric)]
  return pieces(value, wording)
}

/** The sentence in a language, with names marked as code. */
export function pieces(statement: Statement, wording: Wording = inDomain): Sentence {
  if (typeof statement === 'string') return [wording.text(statement)]
  if ('sentences' in statement) return paragraph(statement.sentences, wording)
  const { key, values } = statement
  // Splitting by a pattern with a group yields text and names alternately.
  return wording
    .template(key)
    .split(placeholder)
    .flatMap((part, index): Sentence => {
      if (index % 2 === 0) return part === '' ? [] : [part]
      const value = values[part]
      return value === undefined ? [`{${part}}`] : valuePieces(value, wording)
    })
}

/** Several sentences as one paragraph; a full-width full stop needs no space after it. */
export const paragraph = (parts: readonly Statement[], wording: Wording = inDomain): Sentence =>
  parts
    .map((part) => pieces(part, wording))
    .reduce((before, next) =>
      plain(before).endsWith('。') ? [...before, ...next] : [...before, ' ', ...next],
    )

export const plain = (sentence: Sentence): string =>
  sentence.map((piece) => (typeof piece === 'string' ? piece : piece.code)).join('')

/** English, as used by the command line and reports. */
export const inEnglish = (statement: Statement): string => plain(pieces(statement))

/** Without statements that read the same as one before. */
export const distinct = <One extends Statement>(statements: readonly One[]): One[] => [
  ...new Map(statements.map((one) => [inEnglish(one), one])).values(),
]

/** A JSON value in which every statement that is not plain text gets its English text beside it, for scripts. */
export function withText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withText)
  if (typeof value !== 'object' || value === null) return value
  const inside = Object.entries(value).map(([key, one]) => [key, withText(one)] as const)
  return Object.fromEntries(isStatement(value) ? [...inside, ['text', inEnglish(value)]] : inside)
}

const isStatement = (value: object): value is Exclude<Statement, string> =>
  ('key' in value && 'values' in value && isMessageKey(value.key)) ||
  ('sentences' in value && Array.isArray(value.sentences))

// The word that was probably meant by a misspelled one.

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
  const asked = meant(word, known)
  return asked === null ? remedy : together(asked, remedy)
}
