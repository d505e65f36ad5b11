/**
 * Formats comma-separated values according to RFC 4180. The result is safe to open in a
 * spreadsheet.
 */
import { visible } from './hidden-characters'

export type Cell = string | number | null

/**
 * Adds an apostrophe to text that a spreadsheet would interpret as a formula. The spreadsheet then
 * treats the value as text. Numbers, including negative numbers, do not need an apostrophe.
 */
const guarded = (text: string): string => (/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text)

function cell(value: Cell): string {
  if (value === null) return ''
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : ''
  const text = visible(guarded(value))
  return /[",\n\r\t]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const csvTable = (header: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [header, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
