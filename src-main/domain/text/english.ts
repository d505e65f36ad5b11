/**
 * Renders messages as text.
 *
 * The command line and reports use the English templates in ../messages/english. UIs insert the
 * same values into the templates of their own language.
 */
import { metricDefinition } from '../metrics/metrics'
import { templates } from '../messages/english/index'
import {
  englishTemplate,
  isMessageKey,
  type MessageKey,
  type MessageValue,
  type Statement,
  isList,
} from '../messages/message'
import { fill } from '../messages/format'
import type { Sentence } from '../messages/sentence'

/** A language's templates, metric names, and translations of authors' texts. */
export interface Wording {
  language: string
  template(key: MessageKey): string
  metric(id: string): string
  text(text: string): string
}

const inDomain: Wording = {
  language: 'en',
  template: englishTemplate,
  metric: (id) => (id === 'time' ? templates.figures.time : (metricDefinition(id)?.label ?? id)),
  text: (text) => text,
}

const joined = (parts: readonly Sentence[], by: string): Sentence =>
  parts.flatMap((part, index) => (index === 0 ? part : [by, ...part]))

function valueIn(value: MessageValue, wording: Wording): string | number | Sentence {
  if (typeof value === 'string') return wording.text(value)
  if (typeof value === 'number') return value
  if (isList(value))
    return joined(
      value.map((one) => pieces(one, wording)),
      wording.template('part.separator'),
    )
  if ('code' in value) return [value]
  if ('metric' in value) return wording.metric(value.metric)
  return pieces(value, wording)
}

/** Returns the pieces of a statement in the given language. Names are marked as code. */
export function pieces(statement: Statement, wording: Wording = inDomain): Sentence {
  if (typeof statement === 'string') return [wording.text(statement)]
  if ('sentences' in statement) return paragraph(statement.sentences, wording)
  const values = Object.entries(statement.values).map(
    ([name, value]) => [name, valueIn(value, wording)] as const,
  )
  return fill<Sentence>(
    wording.template(statement.key),
    Object.fromEntries(values),
    wording.language,
  ).flat()
}

/**
 * Joins statements into one paragraph, separated by spaces. There is no space after a full-width
 * period.
 */
export const paragraph = (parts: readonly Statement[], wording: Wording = inDomain): Sentence =>
  parts
    .map((part) => pieces(part, wording))
    .reduce((before, next) =>
      plain(before).endsWith('。') ? [...before, ...next] : [...before, ' ', ...next],
    )

export const plain = (sentence: Sentence): string =>
  sentence.map((piece) => (typeof piece === 'string' ? piece : piece.code)).join('')

/** Returns a statement in English, for the command line and for reports. */
export const inEnglish = (statement: Statement): string => plain(pieces(statement))

/** Removes statements whose text equals an earlier statement's text. */
export const distinct = <One extends Statement>(statements: readonly One[]): One[] => [
  ...new Map(statements.map((one) => [inEnglish(one), one])).values(),
]

/**
 * Returns a copy of a JSON value in which every message also has its English text, for use in
 * scripts.
 */
export function withText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withText)
  if (typeof value !== 'object' || value === null) return value
  const inside = Object.entries(value).map(([key, one]) => [key, withText(one)] as const)
  return Object.fromEntries(isStatement(value) ? [...inside, ['text', inEnglish(value)]] : inside)
}

const isStatement = (value: object): value is Exclude<Statement, string> =>
  ('key' in value && 'values' in value && isMessageKey(value.key)) ||
  ('sentences' in value && Array.isArray(value.sentences))
