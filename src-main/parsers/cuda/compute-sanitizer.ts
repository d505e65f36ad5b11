/**
 * Parses compute-sanitizer's output: the saved XML report (`--xml --save`) and the summary on
 * stdout. The error count in the summary is used to check that the XML is complete.
 *
 * If a run has no findings, the root element is empty. After an aborted run, the closing tag is
 * missing, but complete records are still read.
 *
 * Entities declared in a DOCTYPE are not expanded. Only XML's five built-in entities and numeric
 * references are expanded.
 */
import { XMLParser } from 'fast-xml-parser'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { SanitizerRecord, SourcePlace } from '../../domain/session/sanitizer'

export interface SanitizerXml {
  records: SanitizerRecord[]
  /** Whether the XML document has a closing tag. */
  complete: boolean
}

type Node = { [tag: string]: Node | Node[] | string | undefined }

/** Maximum nesting of records. compute-sanitizer does not write more deeply nested documents. */
const deepest = 16

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  processEntities: false,
  maxNestedTags: deepest,
  isArray: (tag) => tag === 'record',
})

const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

/** Decodes XML entities. Unknown entities stay unchanged. */
const decode = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name as string] ?? whole
    const code = decimal === undefined ? parseInt(hex as string, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

function nodeAt(node: Node, ...path: string[]): Node | null {
  let here: Node | Node[] | string | undefined = node
  for (const tag of path) {
    if (typeof here !== 'object' || Array.isArray(here)) return null
    here = here[tag]
  }
  return typeof here === 'object' && !Array.isArray(here) ? here : null
}

function textAt(node: Node, ...path: string[]): string | null {
  const parent = nodeAt(node, ...path.slice(0, -1))
  const text = parent?.[path.at(-1)!]
  return typeof text === 'string' && text !== '' ? decode(text) : null
}

function wholeAt(node: Node, ...path: string[]): number | null {
  const text = textAt(node, ...path)
  const value = text !== null && /^\d+$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(value) ? value : null
}

function tripleAt(node: Node, ...path: string[]): [number, number, number] | null {
  const [x, y, z] = ['x', 'y', 'z'].map((axis) => wholeAt(node, ...path, axis))
  return x == null || y == null || z == null ? null : [x, y, z]
}

const placeAt = (node: Node | null): SourcePlace => ({
  file: node && textAt(node, 'path'),
  line: node && wholeAt(node, 'line'),
  function: node && textAt(node, 'func'),
})

const severities = { error: 'error', warning: 'warning', info: 'info' } as const

function toRecord(node: Node): SanitizerRecord {
  // Older versions of compute-sanitizer do not write a level and report only errors.
  const level = (textAt(node, 'level') ?? 'Error').toLowerCase()
  const source = nodeAt(node, 'what', 'source')
  const destination = nodeAt(node, 'what', 'destination')
  return {
    kind: textAt(node, 'kind') ?? '',
    severity: Object.hasOwn(severities, level)
      ? severities[level as keyof typeof severities]
      : 'error',
    message:
      [textAt(node, 'what', 'text'), textAt(node, 'what', 'type')]
        .filter((text) => text !== null)
        .join(': ') || 'The tool gave no message.',
    place: placeAt(nodeAt(node, 'where') ?? (source && nodeAt(source, 'where'))),
    conflict:
      source && destination
        ? {
            place: placeAt(nodeAt(destination, 'where')),
            first: textAt(source, 'direction') ?? '',
            second: textAt(destination, 'direction') ?? '',
          }
        : null,
    count: Math.max(1, (destination && wholeAt(destination, 'count')) ?? 1),
    thread: tripleAt(node, 'who', 'threadIdx'),
    block: tripleAt(node, 'who', 'blockIdx'),
    address: textAt(node, 'what', 'address'),
  }
}

const rootTag = 'ComputeSanitizerOutput'

/**
 * Parses a compute-sanitizer report. Throws an error if the text is not a report. If the text is
 * empty, compute-sanitizer never started.
 */
export function parseSanitizerXml(xml: string): SanitizerXml {
  if (xml.trim() === '') return { records: [], complete: false }
  const root = xml.indexOf(`<${rootTag}`)
  if (root < 0) throw notAReport(xml)
  const complete = /<\/ComputeSanitizerOutput>\s*$|<ComputeSanitizerOutput\s*\/>\s*$/.test(xml)
  const end = xml.lastIndexOf('</record>')
  // If the document is truncated, read it up to its last complete record.
  const whole = complete
    ? xml.slice(root)
    : end < root
      ? `<${rootTag}/>`
      : `${xml.slice(root, end)}</record></${rootTag}>`
  try {
    const document = parser.parse(whole) as Node
    const found = nodeAt(document, rootTag)?.record
    const records = Array.isArray(found) ? found : []
    return {
      records: records.filter((record) => typeof record === 'object').map(toRecord),
      complete,
    }
  } catch {
    throw notAReport(xml)
  }
}

const notAReport = (text: string): Error =>
  inputError(
    message('tools.sanitizerNoReport', { text: JSON.stringify(text.trim().slice(0, 80)) }),
    message('tools.sanitizerUse'),
  )

export interface SanitizerSummary {
  /**
   * Number of errors and warnings that compute-sanitizer counted. For racecheck, the number of
   * hazards.
   */
  total: number
  /** Number of errors that compute-sanitizer counted but neither printed nor saved. */
  notPrinted: number
}

/**
 * Returns the numbers in `ERROR SUMMARY` or `RACECHECK SUMMARY`. Returns null if compute-sanitizer
 * exited without printing a summary.
 */
export function parseSanitizerSummary(stdout: string): SanitizerSummary | null {
  let total: number | null = null
  let notPrinted = 0
  for (const line of stdout.split('\n')) {
    // The pattern is not anchored at the start, because the program's last line may have no line
    // break.
    const [, text] = /========= (.*SUMMARY: .*)$/.exec(line.trimEnd()) ?? []
    if (text === undefined) continue
    const left = /(?<!\d)(\d{1,15}) (?:error|hazard|warning)s? (?:was|were) not printed/.exec(text)
    const counted = /^(?:ERROR|RACECHECK) SUMMARY: (\d{1,15}) (?:error|hazard)/.exec(text)
    if (left) notPrinted = Number(left[1])
    else if (counted) total = Number(counted[1])
  }
  return total === null ? null : { total, notPrinted }
}

/**
 * Returns compute-sanitizer's last message that is neither a summary nor a separator. The message
 * explains a missing verdict.
 */
export const lastSanitizerWord = (stdout: string): string | null =>
  stdout
    .split('\n')
    .map((line) => /^========= (\S.*)$/.exec(line.trimEnd())?.[1])
    .filter((text) => text !== undefined && !/^COMPUTE-SANITIZER|SUMMARY: /.test(text))
    .at(-1) ?? null
