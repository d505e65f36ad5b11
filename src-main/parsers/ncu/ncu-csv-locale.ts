/**
 * ncu prints numbers as the locale of its process says: `1,234.5`, `1.234,5`, `1 234,5` or `1'234.5`.
 * `1,234` alone could be either of two numbers, so the first figure that can be read in one way only
 * settles the table, and a figure that contradicts it ends the import: half a table read wrongly is
 * worse than none.
 */
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Columns, ReadCell } from './ncu-csv'
import { hasDecimalComma, parseNcuCell, plainNumber } from './ncu-values'

const grouped = /^[-+]?\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?:[.,]\d+)?$/
const withComma = /^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?(?:[eE][-+]?\d+)?$/
const pointAlone = /^[-+]?(?:\d{1,3}(?:,\d{3})+\.\d+|\d*\.(?!\d{3}$)\d+)$/

const ungrouped = (cell: string): string =>
  grouped.test(cell) ? cell.replaceAll(/(?<=\d)[ \u00a0\u2009\u202f'’](?=\d)/g, '') : cell

export class NumberStyle {
  #decimal: '.' | ',' | null = null
  /** In this row, and in one that is done: a comma or point before anything settled what it means. */
  #unsettled = false
  #guessed = false

  /** Settled to be the decimal point. */
  get hasPoint(): boolean {
    return this.#decimal === '.'
  }

  /** Looks for the figure that settles the style; only one in a column with a unit is surely a figure. */
  look(row: readonly string[], columns: Columns): void {
    if (this.#decimal !== null) return
    for (const { at, name, measured } of columns.metrics)
      if (measured) this.#lookAt(ungrouped(row[at] ?? ''), name)
  }

  /** A cell of a row that was looked at. */
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

  /** Tells that a row is done: what it held can no longer be read in another way. */
  rowDone(): void {
    this.#guessed ||= this.#decimal === null && this.#unsettled
  }
}
