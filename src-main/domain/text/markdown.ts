/**
 * Converts arbitrary text to GitHub Markdown.
 *
 * Markup, HTML, autolinks, mentions and math are escaped. Text from a session is therefore always
 * displayed as plain text.
 */
import type { Sentence } from '../messages/sentence'
import { visible, oneLine } from './hidden-characters'

/** Escapes HTML, and autolinks that GitHub applies even outside Markdown. */
const escapeHtml = (line: string): string =>
  line
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    // Insert an empty comment to prevent mentions, issue references and email links, which
    // backslashes do not prevent.
    .replace(/@(?=\w)/g, '@<!-- -->')
    .replace(/#(?=\d)/g, '#<!-- -->')
    .replace(/:(?=\/\/)/g, '&#58;')
    .replace(/\bwww(?=\.)/gi, '$&<!-- -->')

/** Escapes inline markup, but keeps leading and trailing spaces. */
const escapeInline = (text: string): string =>
  escapeHtml(
    visible(text)
      .replace(/\s+/g, ' ')
      .replace(/[\\`*_[\]|~$]/g, '\\$&'),
  )

/** Escapes characters that start a heading, a list or a rule at the beginning of a line. */
const escapeStart = (line: string): string =>
  line.replace(/^(?=[#+-]+(?:\s|$)|=+$)/, '\\').replace(/^(\d+)(?=[.)](?:\s|$))/, '$1\\')

/** Formats plain text for a paragraph, table cell or list item. */
export const md = (text: string): string => escapeStart(escapeInline(text).trim())

/** Returns the length of the longest sequence of backticks in a text. */
const longestRun = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))

/** Formats text as a code span. Backticks in the text cannot end the span. */
export function mdCode(text: string): string {
  const line = oneLine(text)
  if (line === '') return ''
  const tick = '`'.repeat(longestRun(line) + 1)
  const pad = /^`|`$/.test(line) ? ' ' : ''
  return `${tick}${pad}${line}${pad}${tick}`
}

export const mdCodeCell = (text: string): string => mdCode(text).replaceAll('|', '\\|')

/**
 * Formats text as a fenced code block. The fence is longer than any sequence of backticks in the
 * text.
 */
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

/** Formats a table. The cells must already be Markdown. */
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

/**
 * Formats plain text for a line of HTML, such as the summary of `details`. In HTML, backslashes are
 * literal.
 */
export const mdHtml = (text: string): string =>
  escapeHtml(visible(text).replace(/\s+/g, ' ').trim()).replaceAll('$', '&#36;')

/**
 * Formats a collapsible block with an HTML summary. GitHub parses Markdown inside the block only if
 * it is surrounded by empty lines.
 */
export const details = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`
