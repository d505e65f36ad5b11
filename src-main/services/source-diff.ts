/** The source change between two rungs, as hunks. */
import { structuredPatch } from 'diff'
import { z } from 'zod'
import type { Hunk as ChangedLines } from '../domain/analysis/chain'

export const Hunk = z.object({
  oldStart: z.number().int(),
  oldLines: z.number().int(),
  newStart: z.number().int(),
  newLines: z.number().int(),
  /** Each begins with ' ', '-' or '+', or with '\\' for the note that a text has no line end. */
  lines: z.array(z.string()),
})
export type Hunk = z.infer<typeof Hunk>

export const diffSources = (a: string, b: string, context = 3): Hunk[] =>
  structuredPatch('a', 'b', a, b, undefined, undefined, { context }).hunks.map(
    ({ oldStart, oldLines, newStart, newLines, lines }) => ({
      oldStart,
      oldLines,
      newStart,
      newLines,
      lines: [...lines],
    }),
  )

/** The lines that a change takes from a and puts into b. */
export const changedLines = (a: string, b: string): ChangedLines[] =>
  diffSources(a, b, 0).map(({ oldStart, oldLines, newStart, newLines }) => ({
    a: { from: oldStart, to: oldStart + oldLines - 1 },
    b: { from: newStart, to: newStart + newLines - 1 },
  }))
