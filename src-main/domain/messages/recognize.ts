/**
 * Files keep sentences in English. A sentence of ours among them is read back into the message that it
 * was made from, by its template, so that a screen can say it in the reader's language; whatever else a
 * file says stays as it is. Pure.
 */
import { metricDefinitions } from '../metrics/metrics'
import { templates } from './english'
import {
  englishTemplate,
  placeholder,
  type AnyMessage,
  type MessageKey,
  type MessageValue,
  type Statement,
} from './message'

/** The tables whose sentences sessions, lab outcomes and a machine's report hold. */
const storedTables = [
  'figures',
  'checks',
  'reflect',
  'records',
  'doctor',
  'tools',
] as const satisfies readonly (keyof typeof templates)[]

const keysOf = (table: keyof typeof templates): MessageKey[] =>
  Object.keys(templates[table]).map((name) => `${table}.${name}` as MessageKey)

/** Every message that can be in a file. */
export const storedKeys: readonly MessageKey[] = storedTables.flatMap(keysOf)

/** A longer text is no sentence of ours: a compiler's, a tool's. */
const longest = 2000

const metricsByLabel = new Map([
  [templates.figures.time as string, 'time'],
  ...metricDefinitions.map(({ id, label }): [string, string] => [label, id]),
])

/** The metric that a label of the registry names. */
export const metricLabelled = (label: string): string | undefined => metricsByLabel.get(label)

/** What a placeholder's text can be, and what it is read as; undefined where it is not that. */
interface Reading {
  pattern: string
  read(text: string): MessageValue | undefined
}

const anything: Reading = { pattern: '.+?', read: (text) => text }
const word: Reading = { pattern: '\\S+', read: (text) => text }
const metric: Reading = {
  pattern: '.+?',
  read(label) {
    const id = metricLabelled(label)
    return id === undefined ? undefined : { metric: id }
  },
}
/** A part of a sentence of ours, or one of them, and nothing else. */
const ours: Reading = { pattern: '.+?', read: (text) => find(parts, text) ?? recognize(text) }
/** `256³, 129×257×65`: an author's title may begin as a sentence of ours does. */
const sizes: Reading = { pattern: '[\\d×³, ]+', read: (text) => text }
const sign: Reading = { pattern: '[≤≥]', read: (text) => text }
/** A message of ours, or what a tool said. */
const cause: Reading = {
  pattern: '.*',
  read(text) {
    const [first, ...more] = recognizeAll(text)
    return more.length === 0 ? first : { sentences: [first!, ...more] }
  },
}
const several: Reading = {
  pattern: '.+?',
  read(text) {
    const found = text.split('; ').map((one) => find(parts, one))
    return found.every((one) => one !== undefined) ? found : undefined
  },
}

const named = (reading: Reading, names: string): Record<string, Reading> =>
  Object.fromEntries(names.split(' ').map((name) => [name, reading]))

/** By the placeholder's name, the same in every template; anything where it is not here. */
const readings: Readonly<Record<string, Reading>> = {
  metric,
  sign,
  sizes,
  faults: several,
  why: cause,
  ...named(ours, 'part rest moved bound other direction stage'),
  ...named(word, 'tool rung size line count total place exitCode seconds metricName'),
  ...named(word, 'version threads registers bytes blocks smCount computeCapability most spills'),
  ...named(word, 'threadsBefore registersBefore factor ratio noise error tolerance'),
}

const readingOf = (name: string): Reading => readings[name] ?? anything

interface Known {
  key: MessageKey
  names: string[]
  pattern: RegExp
  /** Letters of its own: the more, the surer the match. */
  letters: number
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

function known(key: MessageKey): Known {
  const parts = englishTemplate(key).split(placeholder)
  const isName = (index: number): boolean => index % 2 === 1
  return {
    key,
    names: parts.filter((_, index) => isName(index)),
    pattern: new RegExp(
      `^${parts.map((part, index) => (isName(index) ? `(${readingOf(part).pattern})` : escaped(part))).join('')}$`,
    ),
    letters: parts.reduce((sum, part, index) => sum + (isName(index) ? 0 : part.length), 0),
  }
}

/** The surest first. */
const bySurety = (keys: readonly MessageKey[]): Known[] =>
  keys.map(known).sort((a, b) => b.letters - a.letters)
const sentences = bySurety(storedKeys)
const parts = bySurety(keysOf('part'))

function read({ key, names, pattern }: Known, text: string): AnyMessage | undefined {
  const found = pattern.exec(text)
  if (!found) return undefined
  const values: Record<string, MessageValue> = {}
  for (const [index, name] of names.entries()) {
    const value = readingOf(name).read(found[index + 1]!)
    if (value === undefined) return undefined
    values[name] = value
  }
  return { key, values }
}

function find(candidates: readonly Known[], text: string): AnyMessage | undefined {
  for (const candidate of candidates) {
    const found = read(candidate, text)
    if (found) return found
  }
  return undefined
}

/** The message that a stored sentence was made from; undefined where it is none of ours. */
export const recognize = (text: string): AnyMessage | undefined =>
  text.length > longest ? undefined : find(sentences, text)

/** The same of a text of several sentences; those that are not ours stay as they are. */
export function recognizeAll(text: string): Statement[] {
  const whole = recognize(text)
  if (whole) return [whole]
  const found = text.split(/(?<=\.) (?=[A-Z])/).map((sentence) => recognize(sentence) ?? sentence)
  return found.some((said) => typeof said !== 'string') ? found : [text]
}
