/**
 * Detects an ncu table's number style from its cells.
 *
 * The style depends on the locale of the ncu process: `1,234.5`, `1.234,5`, `1 234,5` or `1'234.5`.
 * A number such as `1,234` is ambiguous, so the first unambiguous number determines the table's
 * style. If a later number has another style, the import fails, because a partly misread table is
 * worse than no table.
 */
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import {
  plainNumber,
  parseNcuCell,
  hasDecimalComma,
  type Columns,
  type ReadCell,
} from './ncu-values'

const grouped = /^[-+]?\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?:[.,]\d+)?$/

const withComma = /^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?(?:[eE][-+]?\d+)?$/

const pointAlone = /^[-+]?(?:\d{1,3}(?:,\d{3})+\.\d+|\d*\.(?!\d{3}$)\d+)$/

const ungrouped = (cell: string): string =>
  grouped.test(cell) ? cell.replaceAll(/(?<=\d)[ \u00a0\u2009\u202f'’](?=\d)/g, '') : cell

export class NumberStyle {
  #decimal: '.' | ',' | null = null
  /** Whether an earlier row contained a comma or a period while the style was still unknown. */
  #unsettled = false
  #guessed = false

  /** Whether the decimal separator is a period. */
  get hasPoint(): boolean {
    return this.#decimal === '.'
  }

  /**
   * Searches a row for a number that determines the style. Only columns with a unit are guaranteed
   * to contain numbers.
   */
  look(row: readonly string[], columns: Columns): void {
    if (this.#decimal !== null) return
    for (const { at, name, measured } of columns.metrics)
      if (measured) this.#lookAt(ungrouped(row[at] ?? ''), name)
  }

  /** Parses a cell in a row that was passed to `look`. */
  readonly read: ReadCell = (cell, { name, measured }) => {
    const plain = this.#decimal === ',' ? NaN : plainNumber(cell)
    if (!Number.isNaN(plain)) return plain
    const text = ungrouped(cell)
    if (measured) this.#lookAt(text, name)
    return parseNcuCell(
      this.#decimal === ',' && withComma.test(text)
        ? text.replaceAll('.', '').replace(',', '.')
        : text,
    )
  }

  #lookAt(cell: string, column: string): void {
    if (!/[.,]/.test(cell)) return
    const found = hasDecimalComma(cell) ? ',' : pointAlone.test(cell) ? '.' : null
    if (found === null) {
      if (this.#decimal === null) this.#unsettled = true
      return
    }
    if (this.#decimal === found) return
    if (this.#decimal !== null || (found === ',' && this.#guessed))
      throw inputError(
        message('imports.mixedDecimals', { column, value: cell }),
        message('imports.printPlain'),
      )
    this.#decimal = found
  }

  /** Marks a row as final, so that a later row cannot change how its numbers are read. */
  rowDone(): void {
    this.#guessed ||= this.#decimal === null && this.#unsettled
  }
}
