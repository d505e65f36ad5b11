/** Formats text tables for the terminal. */
import stringWidth from 'string-width'
import { printable } from './printable'

export interface Column<T> {
  header: string
  align?: 'left' | 'right'
  cell: (row: T) => string
}

const gap = '  '

/** Returns the width of the terminal in columns, or Infinity if the output is a pipe. */
const terminalWidth = (): number => process.stdout.columns || Infinity

/**
 * Returns a table as text. Omits the header row if all headers are empty. If the table is wider
 * than the terminal, splits it into parts that all begin with the first column.
 */
export function table<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  most: number = terminalWidth(),
): string {
  const cells = columns.map(({ header, cell }) =>
    // Replace control characters before measuring the text, because the replacement changes the
    // width.
    [header, ...rows.map(cell)].map(printable),
  )
  const widths = cells.map((column) => Math.max(...column.map((text) => stringWidth(text))))
  const hasHeader = columns.some(({ header }) => header !== '')
  const lineOf = (part: readonly number[], at: number): string =>
    part
      .map((index) => {
        const text = cells[index]![at]!
        const pad = ' '.repeat(widths[index]! - stringWidth(text))
        return columns[index]!.align === 'left' ? text + pad : pad + text
      })
      .join(gap)
      .trimEnd()
  const parts = hasHeader ? split(widths, most) : [[...widths.keys()]]
  return parts
    .map((part) =>
      Array.from({ length: rows.length + 1 }, (_, at) => lineOf(part, at))
        .slice(hasHeader ? 0 : 1)
        .join('\n'),
    )
    .join('\n\n')
}

/**
 * Splits column indexes into parts that are at most `most` characters wide. A column that is wider
 * than `most` gets its own part.
 */
function split([first = 0, ...others]: readonly number[], most: number): number[][] {
  const parts: number[][] = [[0]]
  let width = first
  for (const [index, own] of others.entries()) {
    width += gap.length + own
    if (width > most && parts.at(-1)!.length > 1) {
      parts.push([0])
      width = first + gap.length + own
    }
    parts.at(-1)!.push(index + 1)
  }
  return parts
}
