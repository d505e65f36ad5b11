/**
 * Parses a page after the browser has drawn its charts. The result contains the drawings and the
 * remaining text.
 */
import { drawingElementId, drawingLabel, type Drawing } from '../../domain/report/chart-drawings'

export interface DrawnPage {
  /** One drawing per requested chart. Null for a chart that was not drawn. */
  drawings: (Drawing | null)[]
  /** Text in the page's main part, which may be empty. */
  words: string
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: '\u00a0' }

const plain = (html: string): string =>
  html.replaceAll(/&(lt|gt|amp|quot|nbsp);/g, (_all, name: string) => entities[name]!)

/**
 * Parses a drawn page. `dom` is the page as the browser serialized it, with escaped text. `count`
 * is the number of requested charts.
 */
export function parseDrawnPage(dom: string, count: number): DrawnPage {
  const drawings = Array.from({ length: count }, (_, index): Drawing | null => {
    const opening = `<pre id="${drawingElementId(index)}" ${drawingLabel}="`
    const found = between(dom, opening, '</pre>')
    const start = found?.indexOf('">') ?? -1
    if (found === null || start < 0) return null
    return { label: plain(found.slice(0, start)), svg: plain(found.slice(start + 2)) }
  })
  const main = mainOf(dom)
  // Don't match `<` inside a tag. Otherwise, the search would scan to the end of the text for every
  // unclosed `<`.
  const words = plain(main.replaceAll('</h2>', '. ').replaceAll(/<[^<>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' .', '.')
    .trim()
  return { drawings, words }
}

/** Returns the contents of the page's main element. */
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
