/** The source change between two rungs, as hunks. */
import { structuredPatch } from 'diff'

export interface Hunk {
  oldStart: number
  oldLines: number
  newStart: number
  newLines: number
  /** Each begins with ' ', '-' or '+'. */
  lines: string[]
}

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
