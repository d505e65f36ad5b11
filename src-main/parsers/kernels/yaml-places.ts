/** Parses a YAML document strictly and reports the line and column of each error. */
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type ParsedNode,
} from 'yaml'
import { z } from 'zod'
import { inputErrors } from '../../domain/errors'
import {
  message,
  messageOf,
  together,
  type AnyMessage,
  type Statement,
} from '../../domain/messages/message'
import { place } from '../../domain/task/faults'
import { meant } from '../../domain/text/nearest'

interface PlacedFault {
  /** Line number, counted from 1. */
  line: number
  column: number
  message: Statement
}

interface ReadYaml {
  /** Parsed value, or undefined if the text is not in the supported subset of YAML. */
  value: unknown
  faults: PlacedFault[]
  at(path: readonly PropertyKey[], message: Statement): PlacedFault
}

/** Throws an input error that lists all errors by line. */
export function refuse(file: string, faults: readonly PlacedFault[]): never {
  const [first, ...more] = faults
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, message: fault }) =>
      message('written.fault', { place: `${file}:${line}:${column}`, fault }),
    )
  throw inputErrors([first!, ...more])
}

/**
 * Returns a key's position. If the document does not contain the key, returns the position of its
 * nearest parent.
 */
function nodeAt(document: Document.Parsed, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const map: unknown =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true)
    const last = path[length - 1]
    const pair = isMap<ParsedNode, ParsedNode | null>(map)
      ? map.items.find((item) => isScalar(item.key) && String(item.key.value) === String(last))
      : undefined
    if (pair?.key.range) return pair.key.range[0]
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range?.[0] ?? 0
}

const sentence = (text: string): string => `${text.replace(/\s+/g, ' ')}.`.replace(/\.\.$/, '.')

/**
 * Maximum number of reported errors. For each duplicate key, the parser scans the whole document to
 * find the first key, so a high limit would be slow.
 */
const mostFaults = 20
/**
 * Maximum number of keys. Each key is compared with all other keys in its map, which takes
 * quadratic time.
 */
const mostKeys = 10_000

/**
 * Maximum nesting depth. The parser is slow if lists and maps are nested more deeply than this
 * limit on one line.
 */
const deepest = 64

/**
 * Matches a `?` before a complex key. Project files need no complex keys, and the parser takes a
 * minute to parse four hundred nested complex keys.
 */
const explicitKey = /(?<!\S)\?(?!\S)/g

/**
 * Returns the reason that the YAML text is too large or too deeply nested to parse. Returns null if
 * the text can be parsed.
 */
export function tooMuch(text: string): Statement | null {
  if ((text.match(explicitKey)?.length ?? 0) > deepest)
    return message('written.explicitKeys', { most: deepest })
  let [keys, depth] = [0, 0]
  for (const character of text) {
    if (character === '\n') depth = 0
    else if (character === ':') keys += 1
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > deepest) return message('written.deep', { most: deepest })
  }
  return keys > mostKeys ? message('written.keys', { most: mostKeys }) : null
}

export function readYaml(source: string): ReadYaml {
  const counter = new LineCounter()
  const whole = source.replace(/^\uFEFF/, '')
  const refused = tooMuch(whole)
  const text = refused === null ? whole : ''
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    // Prevent the parser from printing to stderr, because this program prints its own error
    // messages.
    logLevel: 'error',
  })
  const placed = (offset: number, fault: Statement): PlacedFault => {
    const { line, col } = counter.linePos(offset)
    return { line, column: col, message: fault }
  }
  const at: ReadYaml['at'] = (path, fault) => placed(nodeAt(document, path), fault)
  if (refused !== null) return { value: undefined, faults: [placed(0, refused)], at }
  const found = [...document.errors, ...document.warnings].slice(0, mostFaults)
  const faults = found.map(({ code, message: text, pos }) => {
    const first = code === 'DUPLICATE_KEY' ? firstOf(document, pos[0]) : null
    return placed(
      pos[0],
      first
        ? message('written.repeated', {
            key: JSON.stringify(first.key),
            line: counter.linePos(first.offset).line,
          })
        : sentence(text),
    )
  })
  // Reject aliases, because they can expand a short file to a huge document.
  faults.push(
    ...sharedNodes(document, text).map((offset) => placed(offset, message('written.noSharing'))),
  )
  if (faults.length > 0) return { value: undefined, faults, at }
  return { value: document.toJS({ maxAliasCount: 0 }) as unknown, faults, at }
}

/**
 * Given the position of the second of two equal keys in a map, returns the position of the first
 * key.
 */
function firstOf(
  document: Document.Parsed,
  second: number,
): { key: string; offset: number } | null {
  let found: ReturnType<typeof firstOf> = null
  visit(document, {
    Map(_key, map) {
      const keys = map.items.flatMap(({ key }) => (isScalar(key) && key.range ? [key] : []))
      const own = keys.find(({ range }) => range![0] === second)
      if (!own) return
      const first = keys.find(({ value }) => value === own.value)!
      found = { key: String(first.value), offset: first.range![0] }
      return visit.BREAK
    },
  })
  return found
}

/** Returns the positions of all anchors and aliases in a document. */
function sharedNodes(document: Document.Parsed, text: string): number[] {
  const found: number[] = []
  visit(document, {
    Node(_key, node) {
      const { anchor, range } = node as ParsedNode & { anchor?: string }
      if (!range) return
      if (isAlias(node)) found.push(range[0])
      // An anchor precedes its node, but the node may start on the next line.
      else if (anchor !== undefined) found.push(text.lastIndexOf(`&${anchor}`, range[0]))
    },
  })
  return found
}

/** Returns the issues for the best-matching variant if a value can have several shapes. */
export function inBranch(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const fitting = issue.errors.filter(
    (branch) => !branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  )
  const [nearest] = fitting.sort((a, b) => a.length - b.length)
  if (!nearest) return [issue]
  return nearest.flatMap((one) => inBranch({ ...one, path: [...issue.path, ...one.path] }))
}

/**
 * Returns a hint for text such as `{ bound: pow(2, -24) }`. YAML parses the text after the comma as
 * a key.
 */
const afterComma = (key: string): Statement | null =>
  /[()]/.test(key) ? message('written.comma') : null

/** The part of a JSON Schema that lists the keys of an object. */
interface KeySchema {
  properties?: Record<string, KeySchema>
  additionalProperties?: KeySchema | boolean
  items?: KeySchema
  anyOf?: KeySchema[]
  oneOf?: KeySchema[]
}

const branches = (schema: KeySchema): KeySchema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(branches),
]

const jsonSchemas = new WeakMap<z.ZodType, KeySchema>()

/**
 * Converts a schema to a JSON Schema. The result is cached, because the conversion takes longer
 * than parsing a file.
 */
function jsonSchemaOf(schema: z.ZodType): KeySchema {
  const known = jsonSchemas.get(schema)
  if (known) return known
  const made = z.toJSONSchema(schema, { io: 'input' }) as KeySchema
  jsonSchemas.set(schema, made)
  return made
}

/** Returns the keys that the schema allows at a path, for every shape that the value can have. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let found = branches(jsonSchemaOf(schema))
  for (const step of path)
    found = found
      .flatMap(({ properties = {}, additionalProperties, items }) =>
        typeof step === 'number'
          ? (items ?? [])
          : Object.hasOwn(properties, String(step))
            ? properties[String(step)]!
            : typeof additionalProperties === 'object'
              ? additionalProperties
              : [],
      )
      .flatMap(branches)
  return [...new Set(found.flatMap(({ properties = {} }) => Object.keys(properties)))]
}

const typeWords: Readonly<Record<string, AnyMessage>> = {
  string: message('written.string'),
  number: message('written.number'),
  int: message('written.whole'),
  boolean: message('written.trueOrFalse'),
  object: message('written.map'),
  record: message('written.map'),
  array: message('written.list'),
}

/** Joins words into a list such as `a, b or c`. */
function eitherOf(words: readonly Statement[]): Statement | null {
  const known = [...new Map(words.map((word) => [JSON.stringify(word), word])).values()]
  const [last] = known.splice(-1)
  if (last === undefined) return null
  return known.reduceRight<Statement>(
    (some, one, at) =>
      at === known.length - 1
        ? message('written.either', { some: one, last: some })
        : message('written.before', { one, some }),
    last,
  )
}

/** Returns a description of the required value. Returns null if the schema has its own message. */
function requirement(issue: z.core.$ZodIssue): Statement | null {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords[issue.expected] ?? issue.expected
    case 'invalid_value': {
      const values = issue.values.map(String).join(', ')
      return issue.values.length > 1 ? message('written.oneOf', { values }) : values
    }
    case 'invalid_union':
      return eitherOf(issue.errors.flatMap(([first]) => (first && requirement(first)) ?? []))
    case 'too_small':
      return issue.origin === 'number' || issue.origin === 'int'
        ? message('written.atLeast', { least: String(issue.minimum) })
        : issue.minimum === 1
          ? message('written.nonEmpty')
          : null
    case 'too_big':
      return issue.origin === 'number' || issue.origin === 'int'
        ? message('written.atMost', { most: String(issue.maximum) })
        : null
    default:
      return null
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<PropertyKey, unknown>)[step]
        : undefined,
    value,
  )
}

/** Returns the error for the value at a path, except for extra keys. */
function valueFault(value: unknown, issue: z.core.$ZodIssue): Statement {
  const where = place(issue.path)
  const found = valueAt(value, issue.path)
  const needed = requirement(issue)
  if (where === '') return message(found === null ? 'written.empty' : 'written.noMap')
  if (found === undefined) {
    const only = issue.code === 'invalid_value' && issue.values.length === 1 ? needed : null
    return typeof only === 'string'
      ? message('written.missingWrite', { where, line: `${String(issue.path.at(-1))}: ${only}` })
      : message('written.missing', { where })
  }
  if (found === null) return message('written.noValue', { where })
  if (needed !== null) return message('written.must', { where, what: needed })
  const [inner] = issue.code === 'invalid_key' ? issue.issues : []
  const own = messageOf((inner ?? issue).message)
  const what = typeof own === 'string' ? own.replace(/\s+/g, ' ').replace(/\.$/, '') : own
  return message('written.is', { where, what })
}

/** Returns the document's schema violations with their locations. */
export const schemaFaults = (
  { at, value }: ReadYaml,
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
): PlacedFault[] =>
  issues.flatMap(inBranch).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [at(issue.path, valueFault(value, issue))]
    const where = place(issue.path)
    const known = keysAt(schema, issue.path)
    return issue.keys.map((name) => {
      const key = JSON.stringify(name)
      const fault =
        where === ''
          ? message('written.noKey', { key })
          : message('written.noKeyIn', { key, where })
      return at([...issue.path, name], together(fault, meant(name, known), afterComma(name)))
    })
  })
