/** Strict parsing of a YAML document, with the line and column of each fault. */
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
import type { z } from 'zod'
import { inputError } from '../../domain/errors'

export interface PlacedFault {
  /** From 1. */
  line: number
  column: number
  message: string
}

export interface ReadYaml {
  /** undefined if it is not YAML of the supported subset. */
  value: unknown
  faults: PlacedFault[]
  at(path: readonly PropertyKey[], message: string): PlacedFault
}

const place = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : `${text}${text && '.'}${String(step)}`,
    '',
  )

/** Throws all faults as one error: the first as its sentence, followed by the others. */
export function refuse(file: string, faults: readonly PlacedFault[]): never {
  const [first, ...more] = faults.map(
    ({ line, column, message }) => `${file}:${line}:${column}: ${message}`,
  )
  throw inputError(first!, more.length > 0 ? more.join('\n') : undefined)
}

/** The key if present, since that is what is misspelled or lacks a value; else its parent. */
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

export function readYaml(source: string): ReadYaml {
  const counter = new LineCounter()
  const text = source.replace(/^\uFEFF/, '')
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
  })
  const placed = (offset: number, message: string): PlacedFault => {
    const { line, col } = counter.linePos(offset)
    return { line, column: col, message }
  }
  const at: ReadYaml['at'] = (path, message) => placed(nodeAt(document, path), message)
  const faults = [...document.errors, ...document.warnings].map(({ message, pos }) =>
    placed(pos[0], sentence(message)),
  )
  // Aliases can expand a short file to a very large document.
  faults.push(...sharedNodes(document, text).map((offset) => placed(offset, noSharing)))
  if (faults.length > 0) return { value: undefined, faults, at }
  return { value: document.toJS({ maxAliasCount: 0 }) as unknown, faults, at }
}

const noSharing = 'Anchors and aliases (&, *) are not supported; write the value out.'

/** Where the anchors and aliases of a document are. */
function sharedNodes(document: Document.Parsed, text: string): number[] {
  const found: number[] = []
  visit(document, {
    Node(_key, node) {
      const { anchor, range } = node as ParsedNode & { anchor?: string }
      if (!range) return
      if (isAlias(node)) found.push(range[0])
      // It stands before its node, which can begin on the next line.
      else if (anchor !== undefined) found.push(text.lastIndexOf(`&${anchor}`, range[0]))
    },
  })
  return found
}

/** If a value can have several forms, the closest one determines what is reported. */
function inBranch(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const fitting = issue.errors.filter(
    (branch) => !branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  )
  const [nearest] = fitting.sort((a, b) => a.length - b.length)
  if (!nearest) return [issue]
  return nearest.flatMap((one) => inBranch({ ...one, path: [...issue.path, ...one.path] }))
}

/** What stands behind the comma of `{ bound: pow(2, -24) }` is read as a key. */
const afterComma = (key: string): string =>
  /[()]/.test(key) ? ' An expression with a comma in it is written in quotes.' : ''

/** The schema's issues with the document, with their locations. */
export const schemaFaults = (
  { at }: ReadYaml,
  issues: readonly z.core.$ZodIssue[],
): PlacedFault[] =>
  issues.flatMap(inBranch).flatMap((issue) => {
    const where = place(issue.path)
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) =>
        at(
          [...issue.path, key],
          `There is no key ${JSON.stringify(key)}${where === '' ? '' : ` in ${where}`}.${afterComma(key)}`,
        ),
      )
    return [at(issue.path, `${where === '' ? '' : `${where}: `}${sentence(issue.message)}`)]
  })
