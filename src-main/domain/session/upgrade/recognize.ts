/**
 * Files of version 1 contain English sentences. Sentences written by this program are converted back to the
 * message they were made from, by the templates of that version; all other text is kept. Pure.
 */
import {
  message,
  placeholder,
  together,
  type AnyMessage,
  type MessageKey,
  type MessageValue,
  type Statement,
} from '../../messages/message'
import { metricLabels1, templates1 } from './english-1'

type StoredKey = keyof typeof templates1

const allKeys = Object.keys(templates1) as StoredKey[]
const isPart = (key: StoredKey): boolean => key.split('.')[0] === 'part'

/** Every sentence that a file can contain; fragments occur only within sentences. */
export const storedKeys: readonly MessageKey[] = allKeys.filter((key) => !isPart(key))

/** Longer texts come from a compiler or another tool. */
const longest = 2000

const metricsByLabel = new Map(Object.entries(metricLabels1).map(([id, label]) => [label, id]))

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** The pattern of a placeholder's text and how to read it; undefined if it does not match. */
interface Reading {
  pattern: string
  read(text: string): MessageValue | undefined
}

const anything: Reading = { pattern: '.+?', read: (text) => text }
const word: Reading = { pattern: '\\S+', read: (text) => text }
/** A count becomes a number again; `1.50` and `NaN` remain text. */
const count: Reading = {
  pattern: '\\S+',
  read: (text) =>
    Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text,
}
const metric: Reading = {
  // A label may contain a colon; longest first, because one label may be a prefix of another.
  pattern: [...metricsByLabel.keys()]
    .sort((a, b) => b.length - a.length)
    .map(escaped)
    .join('|'),
  read: (label) => ({ metric: metricsByLabel.get(label)! }),
}
/** A known fragment or sentence, and nothing else. */
const ours: Reading = { pattern: '.+?', read: (text) => find(parts(), text) ?? recognize(text) }
/** `256³, 129×257×65`: an author's title may begin like one of our sentences. */
const sizes: Reading = { pattern: '[\\d×³, ]+', read: (text) => text }
/** Version 1 knew only one task, whose only result is C. */
const result: Reading = { pattern: 'C', read: (text) => text }
const place: Reading = { pattern: 'C\\[\\d+\\]\\[\\d+\\]', read: (text) => text }
const sign: Reading = { pattern: '[≤≥]', read: (text) => text }
/** A known message, or text from a tool. */
const cause: Reading = {
  pattern: '.*',
  read: (text) => recognizeAll(text),
}
const several: Reading = {
  pattern: '.+?',
  read(text) {
    const found = text.split('; ').map((one) => find(parts(), one))
    return found.every((one) => one !== undefined) ? found : undefined
  },
}

const named = (reading: Reading, names: string): Record<string, Reading> =>
  Object.fromEntries(names.split(' ').map((name) => [name, reading]))

/** By placeholder name, which means the same in every template; any text if not listed. */
const readings: Readonly<Record<string, Reading>> = {
  metric,
  sign,
  sizes,
  faults: several,
  why: cause,
  buffers: result,
  place,
  ...named(ours, 'part rest moved bound other direction stage missing'),
  ...named(word, 'tool rung size metricName version computeCapability ratio noise error'),
  ...named(count, 'line count total exitCode seconds threads registers bytes blocks'),
  ...named(
    count,
    'at known actual expected minutes smCount most spills threadsBefore registersBefore factor tolerance',
  ),
}

const readingOf = (name: string): Reading => readings[name] ?? anything

interface Known {
  key: MessageKey
  names: string[]
  pattern: RegExp
  /** Number of literal letters: the more, the more certain the match. */
  letters: number
}

function known(key: StoredKey): Known {
  const parts = templates1[key].split(placeholder)
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

/** Most certain first. Made when one is looked for: hardly a session is still of version 1. */
function bySurety(keys: readonly StoredKey[]): () => Known[] {
  let made: Known[] | undefined
  return () => (made ??= keys.map(known).sort((a, b) => b.letters - a.letters))
}
const sentences = bySurety(allKeys.filter((key) => !isPart(key)))
const parts = bySurety(allKeys.filter(isPart))

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

/** The message that a stored sentence was made from; undefined if it is not one of ours. */
export const recognize = (text: string): AnyMessage | undefined =>
  text.length > longest ? undefined : find(sentences(), text)

/** The same for a text of several sentences; unknown ones are kept. */
export function recognizeAll(text: string): Statement {
  const whole = recognize(text)
  if (whole) return whole
  const [first = '', ...more] = text
    .split(/(?<=\.) (?=[A-Z])/)
    .map((sentence) => recognize(sentence) ?? sentence)
  return [first, ...more].some((said) => typeof said !== 'string') ? together(first, ...more) : text
}

/** The name of a figure: a metric by its registry label, or a known text. */
export function recognizeLabel(text: string): Statement {
  const id = metricsByLabel.get(text)
  if (id === undefined || id === 'time') return recognize(text) ?? text
  return message('part.metric', { metric: { metric: id } })
}
