/** What a browser made of a page that draws one chart: the drawing, or the words that stand in its place. */
import { drawingElementId } from '../../domain/report/drawing'

export interface DrawnPage {
  /** Null where the page drew nothing. */
  svg: string | null
  /** What its main part says; empty where it says nothing. */
  words: string
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: '\u00a0' }
const plain = (html: string): string =>
  html.replaceAll(/&(lt|gt|amp|quot|nbsp);/g, (_all, name: string) => entities[name]!)

/** `dom`: the page as the browser writes it down, its texts escaped. */
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
