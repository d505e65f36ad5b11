/** The changes between two sources, as the merge view finds them, so that change numbers agree everywhere. */
import { Chunk } from '@codemirror/merge'
import { Text } from '@codemirror/state'
import type { Hunk, LineRange } from '../../../src-main/domain/analysis/chain'
import type { SourceText } from './source-header'

/** Beyond this limit a diff gets coarser rather than slower. */
export const diffConfig = { scanLimit: 500 }

export const textOf = ({ text }: SourceText): Text => Text.of(text.split('\n'))

/** File lines, from 1, of a range of the shown text; empty if `from` equals `to`. */
export function linesOf(doc: Text, offset: number, from: number, to: number): LineRange {
  const at = (position: number) => doc.lineAt(Math.min(position, doc.length)).number + offset
  if (from >= to) return { from: at(from), to: at(from) - 1 }
  return { from: at(from), to: at(to - 1) }
}

export function sourceHunks(a: SourceText, b: SourceText): Hunk[] {
  const [left, right] = [textOf(a), textOf(b)]
  return Chunk.build(left, right, diffConfig).map(({ fromA, toA, fromB, toB }) => ({
    a: linesOf(left, a.offset, fromA, toA),
    b: linesOf(right, b.offset, fromB, toB),
  }))
}
