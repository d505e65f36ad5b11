/**
 * Messages in words. The English words are in ./english, and command line and reports have those; a screen
 * sets the same values into its own language's words. Pure.
 */
import { metricDefinition } from '../metrics/metrics'
import { templates } from '../messages/english'
import {
  englishTemplate,
  isMessageKey,
  placeholder,
  type MessageKey,
  type MessageValue,
  type Statement,
  isList,
} from '../messages/message'
import type { Sentence } from '../messages/sentence'

/** How a language says a message: its template, and its name for a metric. */
export interface Wording {
  template(key: MessageKey): string
  metric(id: string): string
}

const inDomain: Wording = {
  template: englishTemplate,
  metric: (id) => (id === 'time' ? templates.figures.time : (metricDefinition(id)?.label ?? id)),
}

const joined = (parts: readonly Sentence[], by: string): Sentence =>
  parts.flatMap((part, index) => (index === 0 ? part : [by, ...part]))

function valuePieces(value: MessageValue, wording: Wording): Sentence {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (isList(value))
    return joined(
      value.map((one) => pieces(one, wording)),
      '; ',
    )
  if ('code' in value) return [value]
  if ('metric' in value) return [wording.metric(value.metric)]
  return pieces(value, wording)
}

/** The sentence in a language, with the names in it that are set as code. */
export function pieces(statement: Statement, wording: Wording = inDomain): Sentence {
  if (typeof statement === 'string') return [statement]
  if ('sentences' in statement) return paragraph(statement.sentences, wording)
  const { key, values } = statement
  // Split by a pattern with a group: words and names by turns.
  return wording
    .template(key)
    .split(placeholder)
    .flatMap((part, index): Sentence => {
      if (index % 2 === 0) return part === '' ? [] : [part]
      const value = values[part]
      return value === undefined ? [`{${part}}`] : valuePieces(value, wording)
    })
}

/** Several sentences as one paragraph; a full stop of full width brings its own space. */
export const paragraph = (parts: readonly Statement[], wording: Wording = inDomain): Sentence =>
  parts
    .map((part) => pieces(part, wording))
    .reduce((before, next) =>
      plain(before).endsWith('。') ? [...before, ...next] : [...before, ' ', ...next],
    )

export const plain = (sentence: Sentence): string =>
  sentence.map((piece) => (typeof piece === 'string' ? piece : piece.code)).join('')

/** As command line and reports have it. */
export const inEnglish = (statement: Statement): string => plain(pieces(statement))

/** Each that says something else, once. */
export const distinct = <One extends Statement>(statements: readonly One[]): One[] => [
  ...new Map(statements.map((one) => [inEnglish(one), one])).values(),
]

/** A JSON value in which every statement that is no plain text has its English beside it, for scripts. */
export function withText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withText)
  if (typeof value !== 'object' || value === null) return value
  const inside = Object.entries(value).map(([key, one]) => [key, withText(one)] as const)
  return Object.fromEntries(isStatement(value) ? [...inside, ['text', inEnglish(value)]] : inside)
}

const isStatement = (value: object): value is Exclude<Statement, string> =>
  ('key' in value && 'values' in value && isMessageKey(value.key)) ||
  ('sentences' in value && Array.isArray(value.sentences))
