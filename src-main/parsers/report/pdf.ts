/**
 * Reads page numbers from a PDF that Chromium wrote, and makes the PDF's bytes reproducible.
 *
 * Chromium writes PDF 1.4 with uncompressed objects and compressed streams. This parser reads only
 * named destinations with their pages, the creation date, and element numbers.
 */

/** Converts each byte to one character. */
const textOf = (pdf: Uint8Array): string => Buffer.from(pdf).toString('latin1')

function objectsOf(text: string): Map<string, string> {
  const objects = new Map<string, string>()
  for (const { 1: number, 2: body } of text.matchAll(
    /(?:^|\n)(\d+) 0 obj\s*(<<[^]*?)(?:endobj|stream)/g,
  ))
    objects.set(number!, body!)
  return objects
}

/**
 * Returns page numbers, counted from 1, by named destination. Returns an empty map if another
 * program wrote the PDF.
 */
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
 * Replaces the creation date and renumbers the elements from 1, so that the same document always
 * yields the same bytes. Chromium itself continues the numbering from earlier print jobs.
 *
 * Lengths and the order of element numbers do not change, so the cross-reference table stays valid.
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
