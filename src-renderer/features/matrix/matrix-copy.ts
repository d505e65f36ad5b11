/**
 * Copies the matrix as text for a spreadsheet or document. Cell contents never become formulas or
 * markup.
 */
import { md, mdTable } from '../../../src-main/domain/text/markdown'
import type { MatrixCell, MatrixItem, MatrixRow } from './matrix'
import { csvTable, type Cell } from '../../../src-main/domain/text/csv'

export interface CopyWords {
  metric: string
  unit: string
  label(row: MatrixRow): string
  unavailable: string
  absent: string
}

const rowsOf = (items: readonly MatrixItem[]): MatrixRow[] =>
  items.filter((item) => item.type === 'metric')

/**
 * Returns a cell for CSV. Numbers have full precision, so that a spreadsheet can calculate with
 * them.
 */
function csvCell(cell: MatrixCell, words: CopyWords): Cell {
  switch (cell.kind) {
    case 'value':
      return cell.value
    case 'text':
      return cell.text
    case 'several':
      return cell.texts.join(' / ')
    case 'unavailable':
      return words.unavailable
    case 'absent':
      return words.absent
  }
}

export const matrixCsv = (
  titles: readonly string[],
  items: readonly MatrixItem[],
  words: CopyWords,
): string =>
  csvTable(
    // Escape header cells too, because a title can contain anything.
    [words.metric, words.unit, ...titles],
    rowsOf(items).map((row) => [
      row.source === 'ncu' ? row.id : words.label(row),
      row.unit,
      ...row.cells.map((cell) => csvCell(cell, words)),
    ]),
  )

/** Returns a Markdown table. Values are formatted as on screen. */
export const matrixMarkdown = (
  titles: readonly string[],
  items: readonly MatrixItem[],
  words: CopyWords,
): string =>
  mdTable(
    [
      { header: md(words.metric), align: 'left' },
      { header: md(words.unit), align: 'left' },
      ...titles.map((title) => ({ header: md(title) })),
    ],
    rowsOf(items).map((row) => [
      md(row.source === 'ncu' ? row.id : words.label(row)),
      md(row.unit),
      ...row.cells.map((cell) =>
        cell.kind === 'value' ? md(cell.text) : md(String(csvCell(cell, words))),
      ),
    ]),
  )
