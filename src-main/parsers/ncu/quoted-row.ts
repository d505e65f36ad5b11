/**
 * Parses rows in which every cell is quoted and numbers have a decimal point.
 *
 * ncu prints such rows under LC_ALL=C. A gigabyte contains about a hundred million cells, so
 * numbers are parsed without creating a string per cell.
 */
import { tens, type Columns } from './ncu-values'

const quote = 34

const comma = 44

const minus = 45

const point = 46

const zero = 48

export class QuotedRow {
  /** Each cell's text, or an empty string if the cell is a plain number. */
  readonly cells: string[]
  /** Each cell's value, or NaN if the cell is not a plain number. */
  readonly numbers: Float64Array
  readonly #isMetric: Uint8Array
  #at = 0

  constructor(readonly columns: Columns) {
    this.cells = Array.from({ length: columns.count }, () => '')
    this.numbers = new Float64Array(columns.count)
    this.#isMetric = new Uint8Array(columns.count)
    for (const { at } of columns.metrics) this.#isMetric[at] = 1
  }

  /**
   * Parses a line. Returns whether the line has exactly as many cells as the table has columns and
   * all cells are quoted.
   */
  read(line: string): boolean {
    const { count } = this.columns
    this.#at = 0
    for (let index = 0; index < count; index += 1) {
      if (line.charCodeAt(this.#at) !== quote) return false
      const value = this.#isMetric[index] === 1 ? this.#number(line) : NaN
      this.numbers[index] = value
      if (!Number.isNaN(value)) this.cells[index] = ''
      else if (!this.#text(line, index)) return false
      if (this.#at === line.length) return index === count - 1
      if (line.charCodeAt(this.#at) !== comma) return false
      this.#at += 1
    }
    // Rows on the raw and details pages may end with a comma.
    return this.#at === line.length
  }

  /**
   * Parses at most 15 digits with at most one decimal point. Returns the same value as Number(), or
   * NaN for other text.
   */
  #number(line: string): number {
    let at = this.#at + 1
    const negative = line.charCodeAt(at) === minus
    if (negative) at += 1
    let value = 0
    let digits = 0
    let decimals = -1
    for (; ; at += 1) {
      const code = line.charCodeAt(at)
      const digit = code - zero
      if (digit >= 0 && digit <= 9) {
        value = value * 10 + digit
        digits += 1
        if (decimals >= 0) decimals += 1
      } else if (code === point && decimals < 0 && digits > 0) decimals = 0
      else if (code === quote) break
      else return NaN
    }
    if (digits === 0 || digits > 15 || decimals === 0) return NaN
    this.#at = at + 1
    // Both operands are exact, so the quotient is the nearest double.
    if (decimals > 0) value /= tens[decimals]!
    return negative ? -value : value
  }

  #text(line: string, index: number): boolean {
    const start = this.#at + 1
    let end = line.indexOf('"', start)
    const first = end
    while (end >= 0 && line.charCodeAt(end + 1) === quote) end = line.indexOf('"', end + 2)
    if (end < 0) return false
    const text = line.slice(start, end)
    this.cells[index] = first === end ? text : text.replaceAll('""', '"')
    this.#at = end + 1
    return true
  }
}
