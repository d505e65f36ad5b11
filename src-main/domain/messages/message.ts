/**
 * What the program says of figures, as data: which sentence, and what is set into it. The English words
 * are in ./english; command line, reports and files hold those. A screen sets the same values into its
 * own language's words. Pure.
 */
import { metricDefinition } from '../metrics/metrics'
import type { Piece, Sentence } from './sentence'
import { templates } from './english'

type Templates = typeof templates

/** `guard.gpu`: the table and the template in it. */
export type MessageKey = {
  [Table in keyof Templates]: `${Table}.${keyof Templates[Table] & string}`
}[keyof Templates]

type TemplateOf<Key extends MessageKey> = Key extends `${infer Table}.${infer Name}`
  ? Table extends keyof Templates
    ? Name extends keyof Templates[Table]
      ? Templates[Table][Name] & string
      : never
    : never
  : never

/** The names between braces. */
type Placeholders<Template extends string> =
  Template extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholders<Rest> : never

/** What can be set into a template: a metric is named in the reader's language, a list is of parts of a sentence. */
export type MessageValue =
  | Piece
  | number
  | { metric: string }
  | { sentences: readonly Statement[] }
  | AnyMessage
  | readonly AnyMessage[]

export type Message<Key extends MessageKey> = {
  key: Key
  values: Readonly<Record<Placeholders<TemplateOf<Key>>, MessageValue>>
}

/** Any message; what it must hold was checked where it was made. */
export interface AnyMessage {
  key: MessageKey
  values: Readonly<Record<string, MessageValue>>
}

/** A sentence of ours, or one as its author, a tool or a session has it. */
export type Statement = AnyMessage | string

type Arguments<Key extends MessageKey> = [Placeholders<TemplateOf<Key>>] extends [never]
  ? []
  : [values: Message<Key>['values']]

/** A message; the values that its English template names are required. */
export const message = <Key extends MessageKey>(
  key: Key,
  ...[values]: Arguments<Key>
): AnyMessage => ({ key, values: values ?? {} })

export function englishTemplate(key: MessageKey): string {
  const [table = '', name = ''] = key.split('.')
  return (templates as Record<string, Record<string, string>>)[table]![name]!
}

/** How a language says a message: its template, and its name for a metric. */
export interface Wording {
  template(key: MessageKey): string
  metric(id: string): string
}

const inDomain: Wording = {
  template: englishTemplate,
  metric: (id) => (id === 'time' ? templates.figures.time : (metricDefinition(id)?.label ?? id)),
}

export const placeholder = /\{(\w+)\}/g

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
  if ('sentences' in value) return paragraph(value.sentences, wording)
  if ('metric' in value) return [wording.metric(value.metric)]
  return pieces(value, wording)
}

const isList = (value: MessageValue): value is readonly AnyMessage[] => Array.isArray(value)

/** The sentence in a language, with the names in it that are set as code. */
export function pieces(statement: Statement, wording: Wording = inDomain): Sentence {
  if (typeof statement === 'string') return [statement]
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

/** As command line, files and reports have it. */
export const inEnglish = (statement: Statement): string => plain(pieces(statement))

/** A sentence for a file: the English of a message. */
export const english = <Key extends MessageKey>(key: Key, ...values: Arguments<Key>): string =>
  inEnglish(message(key, ...values))
