/**
 * A rung's header: `// @key value` lines in the first block of `//` lines of its source, or `#` lines in Python. A line
 * indented by more than one space after `//` continues the value above it; other comment lines are ignored. The first fault is
 * thrown as a sentence with file, line and key, and what to write instead.
 */
import { inputError, type KernelLadderError } from '../../domain/errors'
import { metricDefinition, metricIds } from '../../domain/metrics/metrics'
import { flagsOf, type Task } from '../../domain/task/task'
import { message, type AnyMessage } from '../../domain/messages/message'
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

/** What parsing a header needs to know about the rung's task. */
type HeaderTask = Pick<Task, 'options' | 'flags'>

/** The keys of every header; a task adds one per option, and one for its flags. */
const keys = ['rung', 'title', 'after', 'idea', 'expect', 'param', 'requires'] as const
type Key = (typeof keys)[number]
const required = ['rung', 'idea'] as const satisfies readonly Key[]

const keysFor = ({ options, flags }: HeaderTask, isPython: boolean): string[] => [
  ...keys,
  ...(isPython ? ['package'] : []),
  ...Object.keys(options),
  ...(flags ? [flags.header] : []),
]

interface Entry {
  key: string
  value: string
  /** From 1. */
  line: number
}

type Fail = (
  entry: Pick<Entry, 'line'>,
  fault: AnyMessage,
  remedy?: AnyMessage,
) => KernelLadderError

/** nvcc's macro flags for the parameters, `-DTM=8`, sorted by name. */
export const parameterFlags = (params: Parameters): string[] =>
  Object.keys(params)
    .sort()
    .map((name) => `-D${name}=${params[name]}`)

/** How a header's lines begin: the comments of the language. */
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
      if (!known.includes(word))
        throw fail(
          at,
          message('header.noKey', { key: word }),
          message('header.keys', { keys: list(known) }),
        )
      open = { key: word, parts: [value], ...at }
      entries.push(open)
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
  // A macro of C++ has more digits than that only by mistake.
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

/** The words of a key, all of which must be known, in the order of `known`. */
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

/** torch is the default: Triton's kernels are launched on its tensors too, but need triton to be there. */
function readPackage(entry: Entry | undefined, fail: Fail): PythonPackage {
  if (!entry) return 'torch'
  const found = pythonPackages.find((name) => name === entry.value)
  if (found) return found
  throw fail(
    entry,
    message('header.has', { key: 'package', value: JSON.stringify(entry.value) }),
    message('header.oneOf', { values: pythonPackages.join(', ') }),
  )
}

/** An id as a title: `03_shared_tile` is "Shared tile". */
export function inWords(id: string): string {
  const words = id
    .replace(/^\d+[_.-]?/, '')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
  return words === '' ? id : words.charAt(0).toUpperCase() + words.slice(1)
}

/** The header of the rung in `file`, which is only named in errors. */
export function parseRungHeader(text: string, file: string, task: HeaderTask): RungHeader {
  const fail: Fail = ({ line }, fault, remedy) =>
    inputError(message('written.fault', { place: `${file}:${line}`, fault }), remedy)
  const mark = headerMark(file)
  const isPython = isPythonFile(file)
  const entries = readEntries(text, mark, keysFor(task, isPython), fail)

  const single = new Map<string, Entry>()
  for (const entry of entries) {
    if (entry.value === '') throw fail(entry, message('header.noValue', { key: entry.key }))
    const earlier = single.get(entry.key)
    if (earlier && entry.key !== 'param')
      throw fail(entry, message('header.repeated', { key: entry.key, line: earlier.line }))
    single.set(entry.key, entry)
  }
  const entryOf = (key: string): Entry => {
    const entry = single.get(key)
    if (entry) return entry
    throw inputError(
      message('written.fault', { place: file, fault: message('header.lacks', { key }) }),
      message('header.addLine', { line: `${mark} @${key} …` }),
    )
  }
  for (const key of required) entryOf(key)
  for (const option of Object.keys(task.options)) entryOf(option)

  const params = new Map<string, RungParameter>()
  for (const entry of entries.filter(({ key }) => key === 'param')) {
    const parameter = readParameter(entry, fail)
    if (params.has(parameter.name))
      throw fail(entry, message('header.paramTwice', { name: parameter.name }))
    params.set(parameter.name, parameter)
  }
  const after = single.get('after')
  const expect = single.get('expect')
  const flags = task.flags && single.get(task.flags.header)
  const requires = single.get('requires')
  const id = readIdentifier(entryOf('rung'), fail)
  return {
    id,
    title: single.get('title')?.value ?? inWords(id),
    after: after ? readIdentifier(after, fail) : null,
    idea: entryOf('idea').value,
    expect: expect
      ? expect.value.split(',').map((part) => readExpectation(part.trim(), expect, fail))
      : [],
    params: [...params.values()],
    options: Object.fromEntries(
      Object.entries(task.options).map(([option, { choices }]) => [
        option,
        readWords(entryOf(option), Object.keys(choices), fail),
      ]),
    ),
    flags: flags
      ? readWords(
          flags,
          flagsOf(task).map(([flag]) => flag),
          fail,
        )
      : [],
    requires: requires ? readRequires(requires, fail) : null,
    ...(isPython ? { package: readPackage(single.get('package'), fail) } : {}),
  }
}
