/**
 * The program's messages as data: a key and its values. Sessions, lab outcomes, reports and events
 * store messages in this form. Stored messages are converted to text only for display
 * (../text/english). The templates in ./english define the keys and the values of each key. Pure.
 */
import { z } from 'zod'
import { templates } from './english/index'
import { valueNames } from './format'
import type { Piece } from './sentence'

type Templates = typeof templates

/** A message key, which names a table and one of its templates, such as `guard.gpu`. */
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

/**
 * The value names in the braces of a template. Plural forms such as `one{…}`, `other{…}` and
 * `=0{…}` may contain more value names.
 */
type Placeholders<Template extends string> = Template extends `${infer Before}{${infer Rest}`
  ?
      | (Before extends `${string}${'one' | 'other' | '=0'}` ? never : NameAt<Rest>)
      | Placeholders<Rest>
  : never

type NameAt<Rest extends string> = Rest extends `${infer Inside}}${string}`
  ? Inside extends `${infer Name},${string}`
    ? Name
    : Inside
  : never

/** Several related sentences, in order. */
export interface Passage {
  sentences: readonly Statement[]
}

/**
 * A value to insert into a template. Metric names are shown in the reader's language. A list value
 * contains message fragments.
 */
export type MessageValue =
  | Piece
  | number
  | { metric: string }
  | Passage
  | AnyMessage
  | readonly AnyMessage[]

export type Message<Key extends MessageKey> = {
  key: Key
  values: Readonly<Record<Placeholders<TemplateOf<Key>>, MessageValue>>
}

/** Any message. The values were validated when the message was created or parsed. */
export interface AnyMessage {
  key: MessageKey
  values: Readonly<Record<string, MessageValue>>
}

/** A message from this program, or text from an author or a tool. */
export type Statement = AnyMessage | Passage | string

type Arguments<Key extends MessageKey> = [Placeholders<TemplateOf<Key>>] extends [never]
  ? []
  : [values: Message<Key>['values']]

/** Creates a message. All values of the English template are required. */
export const message = <Key extends MessageKey>(
  key: Key,
  ...[values]: Arguments<Key>
): AnyMessage => ({ key, values: values ?? {} })

/** Joins several statements into one and skips absent ones. */
export function together(
  first: Statement,
  ...more: readonly (Statement | null | undefined)[]
): Statement {
  const rest = more.filter((one): one is Statement => one != null && one !== '')
  return rest.length === 0 ? first : { sentences: [first, ...rest] }
}

/** Joins statements, one per line. */
export const inLines = (all: readonly Statement[]): Statement =>
  all.reduceRight((more, first) => message('written.lines', { first, more }))

export const isList = (value: MessageValue): value is readonly AnyMessage[] => Array.isArray(value)

/** Applies `map` to every string in a statement, including the string values of messages. */
export function withTexts(statement: Statement, map: (text: string) => string): Statement {
  const mapped = (value: MessageValue): MessageValue => {
    if (typeof value === 'string') return map(value)
    if (typeof value === 'number' || 'metric' in value) return value
    if ('code' in value) return { code: map(value.code) }
    if (isList(value)) return value.map((one) => withTexts(one, map) as AnyMessage)
    return withTexts(value, map)
  }
  if (typeof statement === 'string') return map(statement)
  if ('sentences' in statement)
    return { sentences: statement.sentences.map((one) => withTexts(one, map)) }
  const values = Object.entries(statement.values).map(([name, value]) => [name, mapped(value)])
  return { key: statement.key, values: Object.fromEntries(values) as AnyMessage['values'] }
}

/** Returns whether a statement has this message key, regardless of its values. */
export const says = <Key extends MessageKey>(
  statement: Statement | null | undefined,
  key: Key,
): statement is Message<Key> =>
  typeof statement === 'object' && statement !== null && 'key' in statement && statement.key === key

const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = templates

function templateOf(key: string): string | undefined {
  const [table = '', name = ''] = key.split('.', 2)
  const texts = Object.hasOwn(tables, table) ? tables[table]! : {}
  return key === `${table}.${name}` && Object.hasOwn(texts, name) ? texts[name] : undefined
}

export const englishTemplate = (key: MessageKey): string => templateOf(key)!

export const isMessageKey = (text: unknown): text is MessageKey =>
  typeof text === 'string' && templateOf(text) !== undefined

/**
 * Converts the text of a schema error to a statement. Schema errors can contain only text, so our
 * schemas use the key of a message without values.
 */
export const messageOf = (text: string): Statement =>
  isMessageKey(text) ? { key: text, values: {} } : text

/**
 * A message key. The JSON schema lists the keys as an enumeration. A zod enum is not used, because
 * zod would combine all keys into one pattern.
 */
const StoredKey = z
  .string()
  // Stop validation here, because an unknown key has no value names.
  .refine(isMessageKey, { abort: true })
  .meta({
    get enum() {
      return Object.entries(tables).flatMap(([table, texts]) =>
        Object.keys(texts).map((name) => `${table}.${name}`),
      )
    },
  }) as unknown as z.ZodType<MessageKey>

/**
 * A stored message. An additional `text` field is ignored, because messages in the CLI's JSON
 * documents have this field.
 */
const StoredMessage: z.ZodType<AnyMessage> = z
  .object({
    key: StoredKey,
    values: z.record(
      z.string(),
      z.lazy(() => StoredValue),
    ),
  })
  .superRefine(({ key, values }, context) => {
    const wanted = valueNames(englishTemplate(key))
    const issue = (name: string, what: string): void =>
      context.addIssue({ code: 'custom', path: ['values', name], message: `${key} ${what}` })
    for (const name of wanted) if (!Object.hasOwn(values, name)) issue(name, 'lacks this value')
    for (const name of Object.keys(values)) if (!wanted.has(name)) issue(name, 'has no such value')
  })
  .meta({ id: 'Message' })

const StoredPassage: z.ZodType<Passage> = z
  .object({ sentences: z.array(z.lazy(() => Statement)).min(1) })
  .meta({ id: 'Passage' })

const StoredValue: z.ZodType<MessageValue> = z.union([
  z.string(),
  z.number(),
  z.strictObject({ code: z.string() }),
  z.strictObject({ metric: z.string() }),
  StoredPassage,
  StoredMessage,
  z.array(StoredMessage),
])

export const Statement: z.ZodType<Statement> = z
  .union([z.string(), StoredMessage, StoredPassage], {
    error: 'this is no text, and no message that this version knows',
  })
  .meta({ id: 'Statement' })
