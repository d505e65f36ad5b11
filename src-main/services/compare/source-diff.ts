/** Computes the source diff between two rungs as hunks. */
import { structuredPatch } from 'diff'
import { z } from 'zod'
import type { Hunk as ChangedLines } from '../../domain/analysis/chain'
import { headerLines } from '../../domain/ladder/rung'

export const Hunk = z.object({
  oldStart: z.number().int(),
  oldLines: z.number().int(),
  newStart: z.number().int(),
  newLines: z.number().int(),
  /**
   * The hunk's lines. Each line begins with ' ', '-', or '+', or with '\\' if the file does not end
   * with a newline.
   */
  lines: z.array(z.string()),
})

export type Hunk = z.infer<typeof Hunk>

/**
 * Maximum number of edits in a diff. The run time is quadratic in the number of edits. Sources with
 * more edits have little in common.
 */
const mostEdits = 1500

export function diffSources(a: string, b: string, context = 3): Hunk[] {
  const patch = structuredPatch('a', 'b', a, b, undefined, undefined, {
    context,
    maxEditLength: mostEdits,
  })
  if (!patch) return [replaced(a, b)]
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    oldStart,
    oldLines,
    newStart,
    newLines,
    lines: [...lines],
  }))
}

/**
 * Diffs two sources without their header comments, which differ in every rung. Line numbers refer
 * to the complete files.
 */
export function diffBelowHeaders(a: string, b: string, context = 3): Hunk[] {
  const below = (text: string) => {
    const skipped = headerLines(text)
    return { skipped, text: text.split('\n').slice(skipped).join('\n') }
  }
  const [one, other] = [below(a), below(b)]
  return diffSources(one.text, other.text, context).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + one.skipped,
    newStart: hunk.newStart + other.skipped,
  }))
}

/** Returns a single hunk that replaces all of `a` with all of `b`. */
function replaced(a: string, b: string): Hunk {
  const side = (text: string, sign: '-' | '+'): { count: number; lines: string[] } => {
    const lines = text.split('\n')
    const ended = lines.at(-1) === ''
    if (ended) lines.pop()
    const signed = lines.map((line) => `${sign}${line}`)
    const rest = ended ? [] : ['\\ No newline at end of file']
    return { count: lines.length, lines: [...signed, ...rest] }
  }
  const [old, fresh] = [side(a, '-'), side(b, '+')]
  return {
    oldStart: 1,
    oldLines: old.count,
    newStart: 1,
    newLines: fresh.count,
    lines: [...old.lines, ...fresh.lines],
  }
}

/** Returns the lines that a change removes from `a` and adds to `b`. */
export const changedLines = (a: string, b: string): ChangedLines[] =>
  diffSources(a, b, 0).map(({ oldStart, oldLines, newStart, newLines }) => ({
    a: { from: oldStart, to: oldStart + oldLines - 1 },
    b: { from: newStart, to: newStart + newLines - 1 },
  }))
