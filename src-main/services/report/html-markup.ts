/** Converts arbitrary text to HTML. Session content is always escaped and cannot become markup. */
import type { Cell, Table } from './tables'
import type { Sentence } from '../../domain/messages/sentence'
import { oneLine, visible } from '../../domain/text/hidden-characters'

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => escapes[character]!)

/** Returns escaped text on one line, for an element or a quoted attribute. */
export const html = (text: string): string => escaped(oneLine(text))

/** Returns escaped text for a `pre` element, with line breaks preserved. */
export const htmlLines = (text: string): string => escaped(visible(text))

export const htmlCode = (text: string): string => `<code>${html(text)}</code>`

export const htmlSentence = (sentence: Sentence): string =>
  sentence
    .map((piece) => {
      if (typeof piece !== 'string') return htmlCode(piece.code)
      // Keep leading and trailing spaces, because they separate adjacent parts of the text.
      return escaped(visible(piece).replace(/\s+/g, ' '))
    })
    .join('')

export const htmlList = (sentences: readonly Sentence[], tag: 'ul' | 'ol' = 'ul'): string =>
  `<${tag}>${sentences.map((sentence) => `<li>${htmlSentence(sentence)}</li>`).join('')}</${tag}>`

interface HtmlColumn {
  header: string
  align?: 'left'
}

/**
 * Returns a table from cells that are already HTML. The first cell in each row is the row header.
 */
export function htmlTable(
  columns: readonly HtmlColumn[],
  rows: readonly (readonly string[])[],
  name = '',
): string {
  const look = (index: number): string => (columns[index]?.align === 'left' ? '' : ' class="num"')
  const cells = (row: readonly string[]): string =>
    row
      .map((cell, index) =>
        index === 0
          ? `<th scope="row"${look(index)}>${cell}</th>`
          : `<td${look(index)}>${cell}</td>`,
      )
      .join('')
  return [
    `<table${name ? ` class="${name}"` : ''}>`,
    `<thead><tr>${columns.map(({ header }, index) => `<th scope="col"${look(index)}>${header}</th>`).join('')}</tr></thead>`,
    `<tbody>`,
    ...rows.map((row) => `<tr>${cells(row)}</tr>`),
    '</tbody></table>',
  ].join('\n')
}

const cellHtml = ({ text, code, mark = '', note }: Cell): string =>
  `${code ? htmlCode(text) : html(text)}${mark}${note === undefined ? '' : `<sup>${note}</sup>`}`

export const printHtmlTable = ({ columns, rows }: Table, name = ''): string =>
  htmlTable(
    columns.map(({ align, ...header }) => ({
      header: cellHtml(header),
      ...(align === undefined ? {} : { align }),
    })),
    rows.map((row) => row.map(cellHtml)),
    name,
  )
