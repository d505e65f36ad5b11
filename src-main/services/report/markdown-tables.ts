/** Formats a report's tables as Markdown. */
import type { Session } from '../../domain/session/session'
import { details, md, mdCodeCell, mdTable } from '../../domain/text/markdown'
import { rungOrigins } from '../../domain/session/rung-origins'
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

export const originTable = (a: Session, b: Session): string =>
  details(
    'Sources and parameters of each rung',
    mdTable(
      [
        { header: 'Rung', align: 'left' },
        { header: 'In', align: 'left' },
        { header: 'Source', align: 'left' },
        { header: 'SHA-256', align: 'left' },
        { header: 'Parameters', align: 'left' },
      ],
      rungOrigins(a, b).map(({ id, which, file, sourceHash, params }) => [
        mdCodeCell(id),
        which,
        mdCodeCell(file),
        mdCodeCell(sourceHash),
        mdCodeCell(params),
      ]),
    ),
  )
