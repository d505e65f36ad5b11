/**
 * GitHub Markdown from arbitrary text.
 *
 * Markup, HTML, autolinks, mentions and math are escaped, so that nothing in a session can become more than text.
 */
import type { Sentence } from '../messages/sentence'
import { visible, oneLine } from './hidden-characters'

/** Escapes HTML and GitHub's autolinks, which apply even where Markdown does not. */
const escapeHtml = (line: string): string =>
  line
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    // An empty comment prevents mentions, issue references and addresses; a backslash does not.
    .replace(/@(?=\w)/g, '@<!-- -->')
    .replace(/#(?=\d)/g, '#<!-- -->')
    .replace(/:(?=\/\/)/g, '&#58;')
    .replace(/\bwww(?=\.)/gi, '$&<!-- -->')

/** Escapes inline markup; leading and trailing spaces are kept. */
const escapeInline = (text: string): string =>
  escapeHtml(
    visible(text)
      .replace(/\s+/g, ' ')
      .replace(/[\\`*_[\]|~$]/g, '\\$&'),
  )

/** Escapes what would start a heading, a list or a rule at the beginning of a line. */
const escapeStart = (line: string): string =>
  line.replace(/^(?=[#+-]+(?:\s|$)|=+$)/, '\\').replace(/^(\d+)(?=[.)](?:\s|$))/, '$1\\')

/** Plain text as a paragraph, a cell or a list item. */
export const md = (text: string): string => escapeStart(escapeInline(text).trim())

/** The longest run of backticks in a text. */
const longestRun = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))

/** A code span that its own backticks cannot end. In a table, a bar must be escaped even in code. */
export function mdCode(text: string): string {
  const line = oneLine(text)
  if (line === '') return ''
  const tick = '`'.repeat(longestRun(line) + 1)
  const pad = /^`|`$/.test(line) ? ' ' : ''
  return `${tick}${pad}${line}${pad}${tick}`
}

export const mdCodeCell = (text: string): string => mdCode(text).replaceAll('|', '\\|')

/** A fenced block with a fence longer than any run of backticks within. */
export function fenced(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}${language}\n${visible(text).replace(/\n$/, '')}\n${fence}`
}

export const mdSentence = (sentence: Sentence): string =>
  escapeStart(
    sentence
      .map((piece) => (typeof piece === 'string' ? escapeInline(piece) : mdCode(piece.code)))
      .join(''),
  )

type Align = 'left' | 'right'

/** A table whose cells are already Markdown. */
export function mdTable(
  columns: readonly { header: string; align?: Align }[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(({ header }) => header)),
    line(columns.map(({ align }) => (align === 'left' ? ':---' : '---:'))),
    ...rows.map(line),
  ].join('\n')
}

/** Plain text in a line of HTML, such as the summary of `details`, where a backslash would be literal. */
export const mdHtml = (text: string): string =>
  escapeHtml(visible(text).replace(/\s+/g, ' ').trim()).replaceAll('$', '&#36;')

/** A collapsible block; its summary is HTML, and GitHub needs the empty lines to parse the Markdown inside. */
export const details = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`
