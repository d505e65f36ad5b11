/**
 * ncu prints numbers as the locale of its process says: `1,234.5`, `1.234,5`, `1 234,5` or `1'234.5`.
 * `1,234` alone could be either of two numbers, so the first figure that can be read in one way only
 * settles the table, and a figure that contradicts it ends the import: half a table read wrongly is
 * worse than none.
 */
import { inputError } from '../domain/errors'
import { hasDecimalComma } from './ncu-values'

const grouped = /^[-+]?\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?:[.,]\d+)?$/
const withComma = /^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?(?:[eE][-+]?\d+)?$/
const pointAlone = /^[-+]?(?:\d{1,3}(?:,\d{3})+\.\d+|\d*\.(?!\d{3}$)\d+)$/

export class NumberStyle {
  #decimal: '.' | ',' | null = null
  /** In this row, and in one that is done: a comma or point before anything settled what it means. */
  #unsettled = false
  #guessed = false

  /** Brings the cells of a row to the point as decimal sign; `units` tells which of them are figures. */
  normalize(row: string[], header: readonly string[], units: readonly string[]): string[] {
    const cells = row.map((cell) =>
      grouped.test(cell) ? cell.replaceAll(/(?<=\d)[ \u00a0\u2009\u202f'’](?=\d)/g, '') : cell,
    )
    // Only a cell with a unit is surely a figure: `0,1` in another may be a list.
    cells.forEach((cell, index) => {
      if (units[index]) this.#look(cell, header[index] ?? '')
    })
    if (this.#decimal !== ',') return cells
    return cells.map((cell) =>
      withComma.test(cell) ? cell.replaceAll('.', '').replace(',', '.') : cell,
    )
  }

  #look(cell: string, column: string): void {
    const found = hasDecimalComma(cell) ? ',' : pointAlone.test(cell) ? '.' : null
    if (found === null) {
      if (this.#decimal === null && /[.,]/.test(cell)) this.#unsettled = true
      return
    }
    if (this.#decimal === found) return
    if (this.#decimal !== null || (found === ',' && this.#guessed))
      throw inputError(
        `${column} is ${cell}: the table's numbers have now a decimal comma and now a decimal point.`,
        'Print it again with LC_ALL=C in the environment of ncu.',
      )
    this.#decimal = found
  }

  /** Tells that a row is done: what it held can no longer be read in another way. */
  rowDone(): void {
    this.#guessed ||= this.#decimal === null && this.#unsettled
  }
}
