/** HTML and LaTeX from arbitrary text; nothing in a session can become more than text. */
import type { Sentence } from '../../domain/messages/message'
import { oneLine, visible, codePoint } from '../../domain/text/text'
import type { Cell, Table } from './tables'

// HTML from arbitrary text; nothing in a session can become more than text.

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => escapes[character]!)

/** Text on one line, for an element or an attribute in quotes. */
export const html = (text: string): string => escaped(oneLine(text))

/** Text with line ends preserved, for `pre`. */
export const htmlLines = (text: string): string => escaped(visible(text))

export const htmlCode = (text: string): string => `<code>${html(text)}</code>`

export const htmlSentence = (sentence: Sentence): string =>
  sentence
    .map((piece) => {
      if (typeof piece !== 'string') return htmlCode(piece.code)
      // Spaces between pieces are kept.
      return escaped(visible(piece).replace(/\s+/g, ' '))
    })
    .join('')

export const htmlList = (sentences: readonly Sentence[], tag: 'ul' | 'ol' = 'ul'): string =>
  `<${tag}>${sentences.map((sentence) => `<li>${htmlSentence(sentence)}</li>`).join('')}</${tag}>`

interface HtmlColumn {
  header: string
  align?: 'left'
}

/** A table whose cells are already HTML; the first cell of a row is its header. */
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

// LaTeX from arbitrary text; the result requires only booktabs, and compiles.

const replacements: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  '%': '\\%',
  _: '\\_',
  '^': '\\textasciicircum{}',
  '~': '\\textasciitilde{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '"': '{\\char34}',
  "'": '\\textquotesingle{}',
  '`': '\\textasciigrave{}',
  '[': '{[}',
  ']': '{]}',
  '×': '$\\times$',
  '±': '$\\pm$',
  '·': '$\\cdot$',
  '³': '\\textsuperscript{3}',
  '→': '$\\rightarrow$',
  '○': '$\\circ$',
  µ: '\\textmu{}',
  '–': '--',
  '—': '---',
  '’': '\\textquoteright{}',
  '…': '\\ldots{}',
}

/** Characters that LaTeX supports in any encoding without a package; others are replaced by their code point. */
const isSet = (character: string): boolean =>
  /^[\u0020-\u007eÀ-ÖØ-öø-ÿ]$/u.test(character) && !/[ÐÞðþ]/u.test(character)

export const tex = (text: string): string =>
  [...oneLine(text)]
    .map((character, index, all) => {
      // Consecutive hyphens would become a dash.
      if (character === '-' && all[index + 1] === '-') return '-{}'
      const instead = replacements[character]
      if (instead !== undefined) return instead
      return isSet(character) ? character : `{[}${codePoint(character)}{]}`
    })
    .join('')

/** Code that may break after a comma, because a list of rungs is one long word. */
export const texCode = (text: string): string =>
  `\\texttt{${tex(text).replaceAll(',', ',\\allowbreak{}')}}`

export const texSentence = (sentence: Sentence): string =>
  sentence
    .map((piece) => {
      if (typeof piece !== 'string') return texCode(piece.code)
      // Spaces between pieces are kept.
      const [before, after] = [/^\s/, /\s$/].map((edge) => (edge.test(piece) ? ' ' : ''))
      return `${before}${tex(piece)}${after}`
    })
    .join('')

/** A LaTeX comment; the text is joined into one line, so that none of it is typeset. */
export const texComment = (text: string): string => `% ${oneLine(text)}`
