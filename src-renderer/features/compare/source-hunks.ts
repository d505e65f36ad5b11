/** The changes between two sources, as the merge view finds them, so that numbers agree everywhere. */
import { Chunk } from '@codemirror/merge'
import { Text } from '@codemirror/state'
import type { Hunk, LineRange } from '../../../src-main/domain/analysis/chain'
import type { SourceText } from './source-header'

/** A diff that would take longer gets coarser in place of slower. */
export const diffConfig = { scanLimit: 500 }

export const textOf = ({ text }: SourceText): Text => Text.of(text.split('\n'))

/** Lines of the file, from 1, of a stretch of what is shown; empty where `from` is `to`. */
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
