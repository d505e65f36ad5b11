/** Stores rows with equal fields column by column, which halves the compressed size. */
import { z } from 'zod'

const mostCells = 5_000_000

const longest = (columns: Record<string, unknown[]>): number =>
  Object.values(columns).reduce((most, values) => Math.max(most, values.length), 0)

/**
 * Columns by name. The total size of the columns is limited, because one long column and many short
 * columns would expand to huge rows.
 */
export const Columns = z
  .record(z.string(), z.array(z.unknown()))
  .refine((columns) => Object.keys(columns).length * longest(columns) <= mostCells, {
    error: `it has more than ${mostCells} cells`,
  })

export type Columns = z.infer<typeof Columns>

export const toColumns = (rows: readonly object[]): Columns =>
  Object.fromEntries(
    Object.keys(rows[0] ?? {}).map((key) => [
      key,
      rows.map((row) => (row as Record<string, unknown>)[key]),
    ]),
  )

/**
 * Converts columns to rows. The longest column determines the number of rows. Missing values are
 * undefined.
 */
export function fromColumns(columns: Columns): Record<string, unknown>[] {
  const entries = Object.entries(columns)
  return Array.from({ length: longest(columns) }, (_, index) =>
    Object.fromEntries(entries.map(([key, values]) => [key, values[index]])),
  )
}
