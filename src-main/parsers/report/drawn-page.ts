/** The result of a page that draws one chart: the drawing, or the text shown instead. */
import { drawingElementId } from '../../domain/report/drawing'

export interface DrawnPage {
  /** Null if the page drew nothing. */
  svg: string | null
  /** The text of its main part; may be empty. */
  words: string
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: '\u00a0' }
const plain = (html: string): string =>
  html.replaceAll(/&(lt|gt|amp|quot|nbsp);/g, (_all, name: string) => entities[name]!)

/** `dom`: the page as serialized by the browser, with text escaped. */
export function parseDrawnPage(dom: string): DrawnPage {
  const svg = between(dom, `<pre id="${drawingElementId}">`, '</pre>')
  const main = /<main\b[^>]*>([^]*?)<\/main>/.exec(dom)?.[1] ?? ''
  const words = plain(main.replaceAll('</h2>', '. ').replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' .', '.')
    .trim()
  return { svg: svg === null ? null : plain(svg), words }
}

function between(text: string, opening: string, closing: string): string | null {
  const start = text.indexOf(opening)
  const end = text.indexOf(closing, start)
  return start < 0 || end < 0 ? null : text.slice(start + opening.length, end)
}
