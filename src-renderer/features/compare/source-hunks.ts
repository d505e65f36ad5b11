/** The changes between two sources, as the merge view finds them, so that changes agree everywhere. */
import { Change, Chunk, diff, type DiffConfig } from '@codemirror/merge'
import { Text } from '@codemirror/state'
import { diffArrays } from 'diff'
import type { Hunk, LineRange } from '../../../src-main/domain/analysis/chain'
import type { SourceText } from './source-text'

/** Beyond this limit a diff gets coarser rather than slower. */
export const diffConfig: DiffConfig = { scanLimit: 500 }

/** Lines that differ in white space alone are the same. */
export const looseDiffConfig: DiffConfig = { ...diffConfig, override: looseDiff }

function looseDiff(a: string, b: string): readonly Change[] {
  const [left, right] = [a.split('\n'), b.split('\n')]
  const bare = (line: string) => line.replace(/\s+/g, '')
  const starts = (lines: readonly string[], length: number) => {
    let at = 0
    // Where a run of lines reaches the end, it has no line break of its own to take along.
    return [...lines.map(({ length: own }) => (at += own + 1) - own - 1), length + 1].map((start) =>
      Math.min(start, length),
    )
  }
  const [startsA, startsB] = [starts(left, a.length), starts(right, b.length)]
  const found: Change[] = []
  let [lineA, lineB] = [0, 0]
  let [fromA, fromB] = [0, 0]
  const flush = (): void => {
    const [charA, charB] = [startsA[fromA]!, startsB[fromB]!]
    const [endA, endB] = [startsA[lineA]!, startsB[lineB]!]
    if (fromA < lineA && fromB < lineB) {
      const inner = diff(a.slice(charA, endA), b.slice(charB, endB), diffConfig)
      for (const own of inner)
        found.push(
          new Change(own.fromA + charA, own.toA + charA, own.fromB + charB, own.toB + charB),
        )
    } else if (fromA < lineA || fromB < lineB) found.push(new Change(charA, endA, charB, endB))
  }
  for (const { added, removed, count } of diffArrays(left.map(bare), right.map(bare))) {
    if (!added && !removed) {
      flush()
      lineA += count
      lineB += count
      ;[fromA, fromB] = [lineA, lineB]
    } else if (removed) lineA += count
    else lineB += count
  }
  flush()
  return found
}

export const textOf = ({ text }: SourceText): Text => Text.of(text.split('\n'))

/** File lines, from 1, of a range of the shown text; empty if `from` equals `to`. */
export function linesOf(doc: Text, { lines }: SourceText, from: number, to: number): LineRange {
  const at = (position: number) => lines[doc.lineAt(Math.min(position, doc.length)).number - 1] ?? 1
  if (from >= to) return { from: at(from), to: at(from) - 1 }
  return { from: at(from), to: at(to - 1) }
}

export function sourceHunks(a: SourceText, b: SourceText, config = diffConfig): Hunk[] {
  const [left, right] = [textOf(a), textOf(b)]
  return Chunk.build(left, right, config).map(({ fromA, toA, fromB, toB }) => ({
    a: linesOf(left, a, fromA, toA),
    b: linesOf(right, b, fromB, toB),
  }))
}
