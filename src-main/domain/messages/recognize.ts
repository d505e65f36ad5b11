/**
 * Files keep sentences in English. A sentence of ours among them is read back into the message that it
 * was made from, by its template, so that a screen can say it in the reader's language; whatever else a
 * file says stays as it is. Pure.
 */
import { metricDefinitions } from '../metrics'
import {
  englishTemplate,
  placeholder,
  type AnyMessage,
  type MessageKey,
  type MessageValue,
} from './message'
import { templates } from './english'

/** The tables whose sentences sessions and lab outcomes hold. */
const storedTables = ['figures', 'occupancy'] as const satisfies readonly (keyof typeof templates)[]

/** A longer text is no sentence of ours: a compiler's, a tool's. */
const longest = 1000

/** A placeholder by its name: what its text can be, and what it is read as; undefined where it is not that. */
interface Reading {
  pattern: string
  read(text: string): MessageValue | undefined
}

const metricsByLabel = new Map([
  ['Time', 'time'],
  ...metricDefinitions.map(({ id, label }): [string, string] => [label, id]),
])

/** The metric that a label of the registry names. */
export const metricLabelled = (label: string): string | undefined => metricsByLabel.get(label)

const anything: Reading = { pattern: '.+?', read: (text) => text }
const word: Reading = { pattern: '\\S+', read: (text) => text }
const metric: Reading = {
  pattern: '.+?',
  read(label) {
    const id = metricLabelled(label)
    return id === undefined ? undefined : { metric: id }
  },
}
const readings: Readonly<Record<string, Reading>> = {
  metric,
  ...Object.fromEntries(
    [
      'threads',
      'registers',
      'bytes',
      'blocks',
      'smCount',
      'count',
      'computeCapability',
      'most',
      'held',
    ].map((name) => [name, word]),
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

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

function known(key: MessageKey): Known {
  const parts = englishTemplate(key).split(placeholder)
  const names = parts.filter((_, index) => index % 2 === 1)
  const pattern = parts
    .map((part, index) => (index % 2 === 0 ? escaped(part) : `(${readingOf(part).pattern})`))
    .join('')
  const letters = parts.reduce((sum, part, index) => sum + (index % 2 === 0 ? part.length : 0), 0)
  return { key, names, pattern: new RegExp(`^${pattern}$`), letters }
}

/** Every message that can be in a file. */
export const storedKeys: readonly MessageKey[] = storedTables.flatMap((table) =>
  Object.keys(templates[table]).map((name) => `${table}.${name}` as MessageKey),
)

const all: readonly Known[] = storedKeys.map(known).sort((a, b) => b.letters - a.letters)

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

/** The message that a stored sentence was made from; undefined where it is none of ours. */
export function recognize(text: string): AnyMessage | undefined {
  if (text.length > longest) return undefined
  for (const candidate of all) {
    const found = read(candidate, text)
    if (found) return found
  }
  return undefined
}
