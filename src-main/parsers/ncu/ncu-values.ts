/** Parses the columns and cells in ncu's tables. Numbers can have thousands separators. */

/** A column that contains numbers. */
export interface MetricColumn {
  at: number
  name: string
  unit: string
  /** Factor for converting from the column's unit to the base unit. */
  factor: number
  /** Whether the column has a unit. If the column has a unit, all of its cells are numbers. */
  measured: boolean
}

/** Positions of a table's columns, which are determined once for all rows. */
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

/** Parses a cell. The number format depends on the table's locale. */
export type ReadCell = (cell: string, column: MetricColumn) => number | string | null

/**
 * Matches the strings that ncu prints for a missing value. A missing value is different from zero.
 */
const missing = /^(\(!\)\s*)?(n\/a|[-+]?nan|[-+]?inf(inity)?|no data|[-–—]+)?$/i
const number = /^[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][-+]?\d+)?$/

/**
 * Whether a cell is `nan` or `inf`. ncu collected the data for the cell but could not compute the
 * value.
 */
export const isNotFinite = (text: string): boolean => /^\s*[-+]?(nan|inf(inity)?)\s*$/i.test(text)

/** Powers of ten that a double represents exactly. */
export const tens = Array.from({ length: 16 }, (_, power) => 10 ** power)

/**
 * Parses at most 15 digits with at most one decimal point. Returns the same value as Number(), or
 * NaN for other text. Speed matters, because a table can have millions of cells, and most of them
 * contain such a number.
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
  // Both operands are exact, so the quotient is the nearest double.
  if (decimals > 0) value /= tens[decimals]!
  return negative ? -value : value
}

/**
 * Parses the number in a cell. Returns null if the number is missing. Returns the cell's text if
 * the metric's value is a string.
 */
export function parseNcuCell(cell: string): number | string | null {
  const plain = plainNumber(cell)
  if (!Number.isNaN(plain)) return plain
  const text = cell.trim()
  if (missing.test(text)) return null
  if (!number.test(text)) return text
  const value = Number(text.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}

/** Whether the number in a cell has a decimal comma, as in `8,16` or `1.234,5`. */
export const hasDecimalComma = (cell: string): boolean =>
  /^[-+]?\d{1,3}(\.\d{3})*,\d+$/.test(cell.trim()) && !number.test(cell.trim())
