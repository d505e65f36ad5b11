/**
 * Formats a report for printing as one script-free HTML document. Chromium converts the document to
 * pages.
 *
 * A draft printout provides the page numbers for the table of contents.
 */
import { html, htmlLines } from './html-markup'
import type { PrintPart } from './print-parts'
import { printStyle, draftStyle } from './print-style'

/** Page numbers by heading id. */
type PageNumbers = ReadonlyMap<string, number>

export interface PrintDocument {
  title: string
  /** Text in small print below the title, as HTML. */
  sub: string
  /** Paragraphs that the report's author wrote. */
  notes: readonly string[]
  warnings: readonly string[]
  parts: readonly PrintPart[]
}

function contents(parts: readonly PrintPart[], pages: PageNumbers): string {
  const entry = ({ id, title }: PrintPart, isInner: boolean): string =>
    `<li${isInner ? ' class="inner"' : ''}><a href="#${id}">${title}</a><i></i><span>${pages.get(id) ?? ''}</span></li>`
  const entries = parts.flatMap((part) => [
    entry(part, false),
    ...(part.inner ?? []).map((inner) => entry(inner, true)),
  ])
  return `<nav aria-label="Contents"><ul class="contents">${entries.join('\n')}</ul></nav>`
}

const part = ({ id, title, body, inner = [] }: PrintPart, level: 2 | 3 = 2): string =>
  `<section><h${level} id="${id}">${title}</h${level}>\n${body}\n${inner.map((one) => part(one, 3)).join('\n')}</section>`

/**
 * Returns the document. If there are no page numbers, the document is a draft with the same layout,
 * in which most content is invisible.
 */
export function printPage(document: PrintDocument, pages?: PageNumbers): string {
  const { title, sub, notes, warnings, parts } = document
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${html(title)}</title>
<style>${printStyle}${pages ? '' : draftStyle}</style>
</head>
<body>
<h1>${html(title)}</h1>
<p class="sub">${sub}</p>
${notes.map((note) => `<p class="note">${htmlLines(note)}</p>`).join('\n')}
${warnings.map((warning) => `<p class="warning"><b>Warning:</b> ${html(warning)}</p>`).join('\n')}
${contents(parts, pages ?? new Map())}
${parts.map((one) => part(one)).join('\n')}
</body>
</html>
`
}
