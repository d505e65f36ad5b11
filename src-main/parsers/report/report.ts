/** Files that reports leave: HTML reports, pages that draw charts, and PDFs. */
import { gunzipSync } from 'node:zlib'
import { formats, upgraded } from '../../domain/session/upgrade/index'
import { inputError, errorText, type KernelLadderError, schemaFault } from '../../domain/errors'
import { message, says, type Statement } from '../../domain/messages/message'
import {
  deepElementId,
  frozenElementId,
  FrozenReport,
  PackedDeep,
  type FrozenDeep,
} from '../../domain/report/frozen-report'
import { parseJsonWithin } from '../json-within'
import { drawingElementId, drawingLabel, type Drawing } from '../../domain/report/report-format'

// The frozen sessions in an HTML report; no code of the page is run, and nothing else in it is read.

export interface ReadReport {
  report: FrozenReport
  /** For each session, in order. */
  deep: FrozenDeep[]
}

/** Far more than a report of hundreds of rungs needs, and far less than a decompression bomb could expand to. */
const maxDeepBytes = 256 * 1024 * 1024

/** Throws an input error that names the file if the page contains no readable report. */
export function parseReportHtml(html: string, name: string): ReadReport {
  const damaged = (why: Statement) =>
    inputError(
      message('pages.unreadable', { file: name, why }),
      message(says(why, 'files.newer') ? 'sessions.update' : 'pages.nameReport'),
    )
  const text = elementText(html, 'application/json', frozenElementId, damaged)
  if (text === null)
    throw inputError(message('pages.noReport', { file: name }), message('pages.nameReport'))
  const value = parseJson(text, damaged)
  const current = upgraded(formats.report, value)
  if ('refused' in current) throw damaged(current.refused)
  const report = FrozenReport.safeParse(current.value)
  if (!report.success) throw damaged(schemaFault(report.error))
  return {
    report: report.data,
    deep: report.data.sessions.map((_session, index) => {
      const packed = elementText(html, 'text/plain', deepElementId(index), damaged)
      return packed === null ? {} : unpackDeep(packed, damaged)
    }),
  }
}

type Damaged = (why: Statement) => KernelLadderError

/** The text of a data element; null if the page has none with that id. */
function elementText(html: string, type: string, id: string, damaged: Damaged): string | null {
  const opening = `<script type="${type}" id="${id}">`
  const start = html.indexOf(opening)
  if (start < 0) return null
  const end = html.indexOf('</script>', start)
  if (end < 0) throw damaged(message('pages.cutOff'))
  return html.slice(start + opening.length, end)
}

function parseJson(text: string, damaged: Damaged): unknown {
  const parsed = parseJsonWithin(text)
  if ('refused' in parsed) throw damaged(parsed.refused)
  return parsed.value
}

/** Each profile states its version; invalid values are left for the schema to reject. */
function upgradedProfiles(value: unknown, damaged: Damaged): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([rung, profile]) => {
      const current = upgraded(formats.deep, profile)
      if ('refused' in current)
        throw damaged(message('pages.ofDeep', { rung, why: current.refused }))
      return [rung, current.value]
    }),
  )
}

function unpackDeep(packed: string, damaged: Damaged): FrozenDeep {
  let text: string
  try {
    text = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: maxDeepBytes }).toString()
  } catch (error) {
    throw damaged(message('pages.notUnpacked', { text: errorText(error) }))
  }
  const deep = PackedDeep.safeParse(upgradedProfiles(parseJson(text, damaged), damaged))
  if (!deep.success) throw damaged(schemaFault(deep.error))
  return deep.data
}

// The result of a page that draws charts: the drawings, and the text shown where there is none.

export interface DrawnPage {
  /** Null for a chart that was not drawn. */
  drawings: (Drawing | null)[]
  /** The text of its main part; may be empty. */
  words: string
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: '\u00a0' }
const plain = (html: string): string =>
  html.replaceAll(/&(lt|gt|amp|quot|nbsp);/g, (_all, name: string) => entities[name]!)

/** `dom`: the page as serialized by the browser, with text escaped; `count`: how many charts it was asked for. */
export function parseDrawnPage(dom: string, count: number): DrawnPage {
  const drawings = Array.from({ length: count }, (_, index): Drawing | null => {
    const opening = `<pre id="${drawingElementId(index)}" ${drawingLabel}="`
    const found = between(dom, opening, '</pre>')
    const start = found?.indexOf('">') ?? -1
    if (found === null || start < 0) return null
    return { label: plain(found.slice(0, start)), svg: plain(found.slice(start + 2)) }
  })
  const main = mainOf(dom)
  // A tag ends before another begins: `<` without an end would be looked for to the end from each of them.
  const words = plain(main.replaceAll('</h2>', '. ').replaceAll(/<[^<>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' .', '.')
    .trim()
  return { drawings, words }
}

/** What is in the page's main part. */
function mainOf(dom: string): string {
  const start = dom.search(/<main[\s>]/)
  const open = start < 0 ? -1 : dom.indexOf('>', start)
  const end = dom.indexOf('</main>', open)
  return open < 0 || end < 0 ? '' : dom.slice(open + 1, end)
}

function between(text: string, opening: string, closing: string): string | null {
  const start = text.indexOf(opening)
  const end = text.indexOf(closing, start)
  return start < 0 || end < 0 ? null : text.slice(start + opening.length, end)
}

// The few facts needed from a PDF written by Chromium (PDF 1.4, with objects in plain text and only streams
// compressed): the page of a named destination, the creation date, and the numbering of its elements.

/** Bytes as characters, one to one. */
const textOf = (pdf: Uint8Array): string => Buffer.from(pdf).toString('latin1')

function objectsOf(text: string): Map<string, string> {
  const objects = new Map<string, string>()
  for (const { 1: number, 2: body } of text.matchAll(
    /(?:^|\n)(\d+) 0 obj\s*(<<[^]*?)(?:endobj|stream)/g,
  ))
    objects.set(number!, body!)
  return objects
}

/** Page numbers (from 1) by named destination; empty for a PDF of another form. */
export function placesInPdf(pdf: Uint8Array): Map<string, number> {
  const text = textOf(pdf)
  const objects = objectsOf(text)
  const pages = new Map<string, number>()
  const visit = (number: string): void => {
    const body = objects.get(number)
    if (body === undefined || pages.has(number)) return
    const kids = /\/Kids\s*\[([^\]]*)\]/.exec(body)?.[1]
    if (kids === undefined) pages.set(number, pages.size + 1)
    else for (const [, kid] of kids.matchAll(/(\d+) 0 R/g)) visit(kid!)
  }
  const catalog = [...objects.values()].find((body) => /\/Type\s*\/Catalog\b/.test(body))
  const root = catalog && /\/Pages (\d+) 0 R/.exec(catalog)?.[1]
  if (root !== undefined) visit(root)
  const names = catalog && /\/Dests (\d+) 0 R/.exec(catalog)?.[1]
  const places = new Map<string, number>()
  for (const [, name, page] of (objects.get(names ?? '') ?? '').matchAll(
    /\/([\w-]+) \[(\d+) 0 R/g,
  )) {
    const found = pages.get(page!)
    if (found !== undefined) places.set(name!, found)
  }
  return places
}

/**
 * Replaces the creation date and numbers the elements from 1, so that the same document yields the same bytes:
 * Chromium's numbers continue from earlier tasks. Lengths do not change, so the cross-reference table stays
 * valid; neither does the order of the numbers, by which elements are looked up.
 */
export function stablePdf(pdf: Uint8Array, date: Date): Uint8Array {
  const stamp = date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')
  const text = textOf(pdf)
  const names = [...new Set([...text.matchAll(elementName)].map(([, number]) => number!))].sort()
  const numbers = new Map(names.map((name, index) => [name, String(index + 1).padStart(8, '0')]))
  const stable = text
    .replaceAll(/(\/(?:CreationDate|ModDate) \(D:)\d{14}/g, (_all, head: string) => head + stamp)
    .replaceAll(elementName, (_all, number: string) => `(node${numbers.get(number)!})`)
  return Uint8Array.from(Buffer.from(stable, 'latin1'))
}

const elementName = /\(node(\d{8})\)/g
