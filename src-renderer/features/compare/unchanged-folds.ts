/**
 * Folds and unfolds unchanged lines. Hot lines must be unfolded, because a fold would hide them.
 */
import type { Text } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { uncollapseUnchanged, type Chunk } from '@codemirror/merge'

/**
 * The merge view's folding options. `margin` is the number of lines kept around a change. `minSize`
 * is the minimum number of lines to fold.
 */
export const collapseUnchanged = { margin: 3, minSize: 4 }

interface Fold {
  /**
   * Ranges of lines in a and b that one fold can hide. Line numbers are 1-based, and ranges include
   * both ends.
   */
  a: { from: number; to: number }
  b: { from: number; to: number }
}

/** Returns the unchanged ranges that are long enough to fold. */
export function folds(chunks: readonly Chunk[], a: Text, b: Text): Fold[] {
  const found: Fold[] = []
  let [pastA, pastB] = [1, 1]
  for (let index = 0; index <= chunks.length; index += 1) {
    const chunk = chunks[index]
    const margin = index === 0 ? 0 : collapseUnchanged.margin
    const end = (doc: Text, at: number | undefined) =>
      at === undefined
        ? doc.lines
        : doc.lineAt(Math.min(at, doc.length)).number - 1 - collapseUnchanged.margin
    const fold = {
      a: { from: pastA + margin, to: end(a, chunk?.fromA) },
      b: { from: pastB + margin, to: end(b, chunk?.fromB) },
    }
    if (fold.b.to - fold.b.from + 1 >= collapseUnchanged.minSize) found.push(fold)
    if (!chunk) break
    pastA = a.lineAt(Math.min(a.length, chunk.toA)).number
    pastB = b.lineAt(Math.min(b.length, chunk.toB)).number
  }
  return found
}

/** Unfolds every closed fold that contains one of the lines. */
export function unfold(
  editors: { a: EditorView | undefined; b: EditorView },
  original: Text,
  chunks: readonly Chunk[],
  lines: { a: ReadonlySet<number>; b: ReadonlySet<number> },
): void {
  const holds = ({ from, to }: { from: number; to: number }, wanted: ReadonlySet<number>) =>
    [...wanted].some((line) => line >= from && line <= to)
  const chosen = folds(chunks, original, editors.b.state.doc).filter(
    (fold) => holds(fold.a, lines.a) || holds(fold.b, lines.b),
  )
  for (const side of ['a', 'b'] as const) {
    const editor = editors[side]
    if (!editor || chosen.length === 0) continue
    editor.dispatch({
      effects: chosen.map((fold) =>
        uncollapseUnchanged.of(editor.state.doc.line(fold[side].from).from),
      ),
    })
  }
}
