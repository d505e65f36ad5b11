/** A report's table as Markdown. */
import { md, mdCodeCell, mdTable } from '../../domain/text/markdown'
import type { Cell, Table } from './tables'

const cell = ({ text, code, mark = '', note }: Cell): string =>
  `${code ? mdCodeCell(text) : md(text)}${mark}${note === undefined ? '' : ` <sup>${note}</sup>`}`

export const printMdTable = ({ columns, rows }: Table): string =>
  mdTable(
    columns.map(({ align, ...header }) => ({
      header: cell(header),
      ...(align === undefined ? {} : { align }),
    })),
    rows.map((row) => row.map(cell)),
  )
