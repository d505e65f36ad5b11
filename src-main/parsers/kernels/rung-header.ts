/**
 * Parses a rung's header. The header consists of the `// @key value` lines in the first block of
 * `//` lines (`#` lines in Python).
 *
 * A line that is indented by two or more spaces after `//` continues the value on the previous
 * line. Other comment lines are ignored.
 *
 * All errors in a header are thrown together. Each message contains the file, line, key, and a
 * suggested correction.
 */
import { inputError, inputErrors, type KernelLadderError } from '../../domain/errors'
import { metricDefinition, metricIds } from '../../domain/metrics/metrics'
import { flagsOf, type Task } from '../../domain/task/task'
import { message, together, type AnyMessage } from '../../domain/messages/message'
import {
  expectDirections,
  Identifier,
  isPythonFile,
  RungHeader,
  RungParameter,
  type Expectation,
  type Parameters,
} from '../../domain/ladder/rung'
import { pythonPackages, type PythonPackage } from '../../domain/task/python-rung'
import { meant } from '../../domain/text/nearest'

/** The fields of a rung's task that the header parser needs. */
type HeaderTask = Pick<Task, 'options' | 'flags'>

/**
 * Keys that are allowed in every header. A task adds one key per option and one key for its flags.
 */
const keys = ['rung', 'title', 'after', 'idea', 'expect', 'param', 'requires'] as const

const keysFor = ({ options, flags }: HeaderTask, isPython: boolean): string[] => [
  ...keys,
  ...(isPython ? ['package'] : []),
  ...Object.keys(options),
  ...(flags ? [flags.header] : []),
]

interface Entry {
  key: string
  value: string
  /** Line number, counted from 1. */
  line: number
}

/**
 * Records an error and returns the error. A caller that cannot continue throws the returned error.
 */
type Fail = (
  entry: Pick<Entry, 'line'>,
  fault: AnyMessage,
  remedy?: AnyMessage,
) => KernelLadderError

/** Returns nvcc's macro flags for the parameters, such as `-DTM=8`, sorted by name. */
export const parameterFlags = (params: Parameters): string[] =>
  Object.keys(params)
    .sort()
    .map((name) => `-D${name}=${params[name]}`)

/**
 * Returns the comment marker at the start of a header line, which depends on the file's language.
 */
const headerMark = (file: string): '//' | '#' => (isPythonFile(file) ? '#' : '//')

function readEntries(
  text: string,
  mark: '//' | '#',
  known: readonly string[],
  fail: Fail,
): Entry[] {
  const key = new RegExp(`^${mark}\\s*@(\\S*)(.*)$`, 's')
  const continued = new RegExp(`^${mark}(?: {2,}|\\t\\s*)(\\S.*)$`, 's')
  const entries: (Omit<Entry, 'value'> & { parts: string[] })[] = []
  let open: (typeof entries)[number] | null = null
  let begun = false
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (!begun && line.trim() === '') continue
    begun = true
    if (!line.startsWith(mark)) break
    const at = { line: index + 1 }
    const [, word, value = ''] = key.exec(line) ?? []
    const more = continued.exec(line)?.[1]
    if (word !== undefined) {
      open = { key: word, parts: [value], ...at }
      if (known.includes(word)) entries.push(open)
      else
        fail(
          at,
          message('header.noKey', { key: word }),
          message('header.keys', { keys: list(known) }),
        )
    } else if (more === undefined) open = null
    else if (open) open.parts.push(more)
  }
  return entries.map(({ parts, ...entry }) => ({
    ...entry,
    value: parts
      .map((part) => part.trim())
      .join(' ')
      .trim(),
  }))
}

const list = (names: readonly string[]): string => names.map((name) => `@${name}`).join(', ')

function readExpectation(part: string, entry: Entry, fail: Fail): Expectation {
  const [, metric = '', word = ''] = /^(\S+)\s+(\S+)$/.exec(part) ?? []
  const direction = expectDirections.find((known) => known === word)
  if (!direction)
    throw fail(
      entry,
      message('header.contains', { key: 'expect', value: JSON.stringify(part) }),
      message('header.writeExpect'),
    )
  if (!metricDefinition(metric)) {
    const suggestion = meant(metric, metricIds)
    throw fail(
      entry,
      suggestion === null
        ? message('header.noMetric', { metric })
        : message('header.noMetricMeant', { metric, meant: suggestion }),
      message('header.seeMetrics'),
    )
  }
  return { metric, direction }
}

function readParameter(entry: Entry, fail: Fail): RungParameter {
  const [, name = '', initial, values = ''] =
    /^([A-Z][A-Z0-9_]*)\s+(-?\d+)\s+\{([^}]*)\}$/.exec(entry.value) ?? []
  const allowed = values.split(',').map((value) => value.trim())
  // A number with more than 15 digits is treated as a typo.
  if (initial === undefined || !allowed.every((value) => /^-?\d{1,15}$/.test(value)))
    throw fail(
      entry,
      message('header.contains', { key: 'param', value: JSON.stringify(entry.value) }),
      message('header.writeParam', { example: '"TM 8 {4,8,16}"' }),
    )
  const parameter = { name, default: Number(initial), allowed: allowed.map(Number) }
  if (new Set(parameter.allowed).size < parameter.allowed.length)
    throw fail(entry, message('header.valueTwice', { name }))
  if (!parameter.allowed.includes(parameter.default))
    throw fail(
      entry,
      message('header.otherDefault', { name, value: initial }),
      message('header.allowed', { values: `{${values}}` }),
    )
  return parameter
}

/**
 * Returns the words in a key's value, in the order of `known`. Throws an error for unknown words.
 */
function readWords(entry: Entry, known: readonly string[], fail: Fail): string[] {
  const words = entry.value.split(/[\s,]+/).filter(Boolean)
  for (const word of words)
    if (!known.includes(word))
      throw fail(
        entry,
        message('header.has', { key: entry.key, value: JSON.stringify(word) }),
        message('header.anyOf', { values: known.join(', ') }),
      )
  const found = known.filter((word) => words.includes(word))
  if (found.length < words.length)
    throw fail(entry, message('header.wordTwice', { key: entry.key }))
  return found
}

function readIdentifier(entry: Entry, fail: Fail): string {
  const id = Identifier.safeParse(entry.value)
  if (id.success) return id.data
  throw fail(
    entry,
    message('header.noId', { key: entry.key, value: JSON.stringify(entry.value) }),
    message('header.writeId'),
  )
}

function readRequires(entry: Entry, fail: Fail): string {
  const requires = RungHeader.shape.requires.safeParse(entry.value)
  if (requires.success && requires.data) return requires.data
  throw fail(
    entry,
    message('header.contains', { key: 'requires', value: JSON.stringify(entry.value) }),
    message('header.writeRequires'),
  )
}

/**
 * Returns the Python package that the rung requires. The default is torch. Triton kernels require
 * triton, although they also use torch tensors.
 */
function readPackage(entry: Entry, fail: Fail): PythonPackage {
  const found = pythonPackages.find((name) => name === entry.value)
  if (found) return found
  throw fail(
    entry,
    message('header.has', { key: 'package', value: JSON.stringify(entry.value) }),
    message('header.oneOf', { values: pythonPackages.join(', ') }),
  )
}

/** Converts an id such as `03_shared_tile` to a title such as "Shared tile". */
export function inWords(id: string): string {
  const words = id
    .replace(/^\d+[_.-]?/, '')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
  return words === '' ? id : words.charAt(0).toUpperCase() + words.slice(1)
}

/** Creates a collector for the errors in a header. The collector sorts the errors by line. */
function collectFaults(file: string) {
  const faults: { line: number; error: KernelLadderError }[] = []
  const note = (line: number, error: KernelLadderError): KernelLadderError => {
    faults.push({ line, error })
    return error
  }
  const at = (place: string, fault: AnyMessage) => message('written.fault', { place, fault })
  const fail: Fail = ({ line }, fault, remedy) =>
    note(line, inputError(at(`${file}:${line}`, fault), remedy))
  return {
    fail,
    /** Reports a key that is missing from the file. */
    lacks: (key: string, line: string): KernelLadderError =>
      note(
        Infinity,
        inputError(at(file, message('header.lacks', { key })), message('header.addLine', { line })),
      ),
    /** Returns the result of `read`, or null if `read` threw an error that is already recorded. */
    orNull<Value>(read: () => Value): Value | null {
      try {
        return read()
      } catch (error) {
        if (faults.some((fault) => fault.error === error)) return null
        throw error
      }
    },
    /** Throws a single error that lists all recorded errors, if there are any. */
    finish(): void {
      const [first, ...more] = faults
        .sort((a, b) => a.line - b.line)
        .map(({ error: { statement, remedy } }) => together(statement, remedy))
      if (first !== undefined) throw inputErrors([first, ...more])
    },
  }
}

/** Parses a rung's header. `file` is used only in error messages. */
export function parseRungHeader(text: string, file: string, task: HeaderTask): RungHeader {
  const { fail, lacks, orNull, finish } = collectFaults(file)
  const mark = headerMark(file)
  const isPython = isPythonFile(file)
  const entries = readEntries(text, mark, keysFor(task, isPython), fail)

  const single = new Map<string, Entry>()
  for (const entry of entries) {
    const earlier = single.get(entry.key)
    if (earlier && entry.key !== 'param')
      fail(entry, message('header.repeated', { key: entry.key, line: earlier.line }))
    else single.set(entry.key, entry)
    if (entry.value === '') fail(entry, message('header.noValue', { key: entry.key }))
  }
  /**
   * Parses the value of `key`. Returns null if the value is missing. If the key is required, also
   * reports an error.
   */
  const read = <Value>(
    key: string,
    of: (entry: Entry) => Value,
    isRequired = false,
  ): Value | null => {
    const entry = single.get(key)
    if (!entry && isRequired) lacks(key, `${mark} @${key} …`)
    return entry && entry.value !== '' ? orNull(() => of(entry)) : null
  }

  const params = new Map<string, RungParameter>()
  for (const entry of entries.filter(({ key, value }) => key === 'param' && value !== '')) {
    const parameter = orNull(() => readParameter(entry, fail))
    if (parameter && params.has(parameter.name))
      fail(entry, message('header.paramTwice', { name: parameter.name }))
    else if (parameter) params.set(parameter.name, parameter)
  }
  const identifier = (entry: Entry): string => readIdentifier(entry, fail)
  const words =
    (known: readonly string[]) =>
    (entry: Entry): string[] =>
      readWords(entry, known, fail)
  const id = read('rung', identifier, true)
  const header = {
    title: read('title', ({ value }) => value),
    after: read('after', identifier),
    idea: read('idea', ({ value }) => value, true),
    expect: read('expect', (entry) =>
      entry.value
        .split(',')
        .flatMap((part) => orNull(() => readExpectation(part.trim(), entry, fail)) ?? []),
    ),
    params: [...params.values()],
    options: Object.fromEntries(
      Object.entries(task.options).map(([option, { choices }]) => [
        option,
        read(option, words(Object.keys(choices)), true) ?? [],
      ]),
    ),
    flags: task.flags ? read(task.flags.header, words(flagsOf(task).map(([flag]) => flag))) : null,
    requires: read('requires', (entry) => readRequires(entry, fail)),
    ...(isPython
      ? { package: read('package', (entry) => readPackage(entry, fail)) ?? 'torch' }
      : {}),
  }
  finish()
  return {
    ...header,
    id: id!,
    title: header.title ?? inWords(id!),
    idea: header.idea!,
    expect: header.expect ?? [],
    flags: header.flags ?? [],
  }
}
