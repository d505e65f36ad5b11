/**
 * Files of version 1 hold English sentences. One of ours is read back into the message that it was made
 * from, by the template of then; whatever else a file says stays as it is. Pure.
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

/** Every sentence that can be in a file; a part of one is in it only as such. */
export const storedKeys: readonly MessageKey[] = allKeys.filter((key) => !isPart(key))

/** A longer text is no sentence of ours: a compiler's, a tool's. */
const longest = 2000

const metricsByLabel = new Map(Object.entries(metricLabels1).map(([id, label]) => [label, id]))

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** What a placeholder's text can be, and what it is read as; undefined where it is not that. */
interface Reading {
  pattern: string
  read(text: string): MessageValue | undefined
}

const anything: Reading = { pattern: '.+?', read: (text) => text }
const word: Reading = { pattern: '\\S+', read: (text) => text }
/** A count is a number again; `1.50` and `NaN` are texts that show one. */
const count: Reading = {
  pattern: '\\S+',
  read: (text) =>
    Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text,
}
const metric: Reading = {
  // A label may itself hold a colon; the longest first, as one may begin another.
  pattern: [...metricsByLabel.keys()]
    .sort((a, b) => b.length - a.length)
    .map(escaped)
    .join('|'),
  read: (label) => ({ metric: metricsByLabel.get(label)! }),
}
/** A part of a sentence of ours, or one of them, and nothing else. */
const ours: Reading = { pattern: '.+?', read: (text) => find(parts, text) ?? recognize(text) }
/** `256³, 129×257×65`: an author's title may begin as a sentence of ours does. */
const sizes: Reading = { pattern: '[\\d×³, ]+', read: (text) => text }
/** Version 1 knew one task, whose one result is C. */
const result: Reading = { pattern: 'C', read: (text) => text }
const place: Reading = { pattern: 'C\\[\\d+\\]\\[\\d+\\]', read: (text) => text }
const sign: Reading = { pattern: '[≤≥]', read: (text) => text }
/** A message of ours, or what a tool said. */
const cause: Reading = {
  pattern: '.*',
  read: (text) => recognizeAll(text),
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
  /** Letters of its own: the more, the surer the match. */
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

/** The surest first. */
const bySurety = (keys: readonly StoredKey[]): Known[] =>
  keys.map(known).sort((a, b) => b.letters - a.letters)
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

/** The message that a stored sentence was made from; undefined where it is none of ours. */
export const recognize = (text: string): AnyMessage | undefined =>
  text.length > longest ? undefined : find(sentences, text)

/** The same of a text of several sentences; those that are not ours stay as they are. */
export function recognizeAll(text: string): Statement {
  const whole = recognize(text)
  if (whole) return whole
  const [first = '', ...more] = text
    .split(/(?<=\.) (?=[A-Z])/)
    .map((sentence) => recognize(sentence) ?? sentence)
  return [first, ...more].some((said) => typeof said !== 'string') ? together(first, ...more) : text
}

/** What a figure is called: a metric by its registry's label, or words of ours. */
export function recognizeLabel(text: string): Statement {
  const id = metricsByLabel.get(text)
  if (id === undefined || id === 'time') return recognize(text) ?? text
  return message('part.metric', { metric: { metric: id } })
}
