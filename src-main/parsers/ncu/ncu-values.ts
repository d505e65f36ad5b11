/** Parses cells of ncu's tables: columns, and numbers with thousands separators. */

/** A column of figures. */
export interface MetricColumn {
  at: number
  name: string
  unit: string
  /** Factor to the base unit. */
  factor: number
  /** Whether it has a unit, so that its cells are certain to be figures. */
  measured: boolean
}

/** The positions of a table's columns, determined once for all rows. */
export interface Columns {
  count: number
  id: number
  process: number
  kernel: number
  block: number
  grid: number
  device: number
  capability: number
  pushed: number
  started: number
  metrics: readonly MetricColumn[]
}

/** Reads a cell according to the table's locale. */
export type ReadCell = (cell: string, column: MetricColumn) => number | string | null

/** Matches ncu's text for a missing figure. Not collected is not zero. */
const missing = /^(\(!\)\s*)?(n\/a|[-+]?nan|[-+]?inf(inity)?|no data|[-–—]+)?$/i
const number = /^[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][-+]?\d+)?$/

/** Whether a text is `nan` or `inf`: a figure that could not be computed, unlike one that was not collected. */
export const isNotFinite = (text: string): boolean => /^\s*[-+]?(nan|inf(inity)?)\s*$/i.test(text)

/** Powers of ten that are exact in a double. */
export const tens = Array.from({ length: 16 }, (_, power) => 10 ** power)

/**
 * Parses at most 15 digits with at most one point, to the same value as Number(); NaN for any other text. Most of a
 * table's millions of cells have this form.
 */
export function plainNumber(cell: string): number {
  const { length } = cell
  const negative = cell.charCodeAt(0) === 45
  let value = 0
  let point = -1
  let at = negative ? 1 : 0
  const first = at
  if (length - first > 16 || length === first) return NaN
  for (; at < length; at += 1) {
    const digit = cell.charCodeAt(at) - 48
    if (digit >= 0 && digit <= 9) value = value * 10 + digit
    else if (digit === -2 && point < 0) point = at
    else return NaN
  }
  const decimals = point < 0 ? 0 : length - point - 1
  const digits = length - first - (point < 0 ? 0 : 1)
  if (digits > 15 || digits === decimals || point === length - 1) return NaN
  // Both are exact, so the quotient is the nearest double.
  if (decimals > 0) value /= tens[decimals]!
  return negative ? -value : value
}

/** Parses a cell's figure. Null if ncu had none; the text itself if the metric is textual. */
export function parseNcuCell(cell: string): number | string | null {
  const plain = plainNumber(cell)
  if (!Number.isNaN(plain)) return plain
  const text = cell.trim()
  if (missing.test(text)) return null
  if (!number.test(text)) return text
  const value = Number(text.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}

/** Whether a cell is like `8,16` or `1.234,5`, from a locale with a decimal comma. */
export const hasDecimalComma = (cell: string): boolean =>
  /^[-+]?\d{1,3}(\.\d{3})*,\d+$/.test(cell.trim()) && !number.test(cell.trim())
