/**
 * Shows two versions of a source in CodeMirror, side by side or unified. The editors are in a
 * shadow root, in which CodeMirror adopts style sheets. Outside a shadow root, CodeMirror
 * would add a <style> element, which the content security policy blocks.
 */
import { type Text, EditorState, type Extension } from '@codemirror/state'
import { EditorView, drawSelection, lineNumbers } from '@codemirror/view'
import { type Chunk, getChunks, MergeView, unifiedMergeView } from '@codemirror/merge'
import { syntaxHighlighting } from '@codemirror/language'
import type { Hunk } from '../../../src-main/domain/analysis/chain'
import { codeHighlighting, codeTheme } from '../../ui/code-theme'
import { cachedSyntaxOf } from '../../ui/code-syntax'
import { markedLines, markLines } from '../../ui/code-marks'
import { diffConfig, linesOf, looseDiffConfig, textOf } from './source-hunks'
import { shownLine, type SourceText } from './source-text'
import { setFound, finder } from './editor-finder'
import { collapseUnchanged, unfold } from './unchanged-folds'
import { heatGutter, setHeat, type Heat } from '../../ui/code-heat'

export type SourceLayout = 'split' | 'unified'
export type SideName = 'a' | 'b'

export interface SourceView {
  /** Moves to the next or previous change. */
  go(direction: 'next' | 'previous'): void
  /**
   * Moves to the first change that contains any of the given file lines. If no change contains any
   * of these lines, moves to the next change.
   */
  goTo(hunk: Hunk): void
  /** Returns the file lines of all changes. */
  hunks(): Hunk[]
  /**
   * Marks all matches of a search string and moves to the match at an index. Matches are counted
   * from 0, first in a and then in b. Returns the number of matches.
   */
  find(text: string, at: number): number
  /**
   * Returns the number of changes and the 1-based index of the current change. The index is 0 until
   * the user moves to a change.
   */
  position(): { index: number; count: number }
  /**
   * Returns the file lines of the current change, or undefined if the user has not moved to a
   * change yet.
   */
  current(): Hunk | undefined
  /**
   * Sets the heat of each file line. null removes the heat. The unified layout can show only the
   * heat of b.
   */
  heat(side: SideName, heat: Heat | null): void
  /** Scrolls to a file line if its side is shown. */
  show(side: SideName, line: number): void
  /** Scrolls to a file line and marks it. */
  reveal(side: SideName, line: number): void
  destroy(): void
}

interface SourceViewOptions {
  layout: SourceLayout
  /** Whether lines that differ only in white space are treated as equal. */
  loose: boolean
  wrap: boolean
  /** Translations of CodeMirror's built-in phrases. The keys are CodeMirror's English phrases. */
  phrases: Record<string, string>
  /** Called when a file line is clicked. */
  onLine(side: SideName, line: number): void
}

function common(side: SideName, source: SourceText, options: SourceViewOptions): Extension {
  return [
    heatGutter,
    lineNumbers({ formatNumber: (number) => String(source.lines[number - 1] ?? '') }),
    drawSelection(),
    cachedSyntaxOf(source.file),
    syntaxHighlighting(codeHighlighting),
    EditorState.readOnly.of(true),
    EditorState.phrases.of(options.phrases),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({
      tabindex: '0',
      'aria-label': source.file,
      role: 'textbox',
      'aria-multiline': 'true',
      'aria-readonly': 'true',
    }),
    EditorView.domEventHandlers({
      click(event, view) {
        const position = view.posAtCoords(event)
        // Dragging selects text, not a line.
        if (position === null || !view.state.selection.main.empty) return
        const line = source.lines[view.state.doc.lineAt(position).number - 1]
        if (line !== undefined) options.onLine(side, line)
      },
    }),
    codeTheme,
    markedLines,
    finder,
    options.wrap ? EditorView.lineWrapping : [],
  ]
}

/** Returns the numbers of the lines that a range of the document touches. */
function shownLines(doc: Text, from: number, to: number): number[] {
  const first = doc.lineAt(Math.min(from, doc.length)).number
  const last = doc.lineAt(Math.min(to, doc.length)).number
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/** Lines with at least this share of the rung's total heat are never folded. */
const hotShare = 0.03

export function createSourceView(
  root: ShadowRoot,
  a: SourceText,
  b: SourceText,
  options: SourceViewOptions,
): SourceView {
  let editors: { a: EditorView | undefined; b: EditorView }
  let destroy: () => void
  const diffing = options.loose ? looseDiffConfig : diffConfig
  if (options.layout === 'split') {
    const merge = new MergeView({
      a: { doc: a.text, extensions: common('a', a, options) },
      b: { doc: b.text, extensions: common('b', b, options) },
      parent: root,
      root,
      collapseUnchanged,
      gutter: true,
      diffConfig: diffing,
    })
    editors = { a: merge.a, b: merge.b }
    destroy = () => merge.destroy()
  } else {
    const editor = new EditorView({
      doc: b.text,
      extensions: [
        common('b', b, options),
        unifiedMergeView({
          original: a.text,
          mergeControls: false,
          collapseUnchanged,
          diffConfig: diffing,
        }),
      ],
      parent: root,
      root,
    })
    editors = { a: undefined, b: editor }
    destroy = () => editor.destroy()
  }
  const sources = { a, b }
  const original = textOf(a)

  // The index of the current change is -1 until the user moves to a change. Moving past the last
  // change wraps around.
  let current = -1
  const chunks = () => getChunks(editors.b.state)?.chunks ?? []

  /** Unfolds the given file lines. */
  function open(side: SideName, lines: readonly number[]): void {
    const shown = new Set(lines.flatMap((line) => shownLine(sources[side], line) ?? []))
    const none = new Set<number>()
    unfold(editors, original, chunks(), {
      a: side === 'a' ? shown : none,
      b: side === 'b' ? shown : none,
    })
  }

  // Unfold everything if the sources are equal, because the view would otherwise be a single fold.
  if (chunks().length === 0) open('b', b.lines)

  function scrollTo(side: SideName, line: number): number | undefined {
    const editor = editors[side]
    const number = shownLine(sources[side], line)
    if (!editor || number === undefined) return undefined
    open(side, [line])
    const { from } = editor.state.doc.line(number)
    editor.dispatch({ effects: EditorView.scrollIntoView(from, { y: 'nearest', yMargin: 40 }) })
    return number
  }

  const hunkOf = (chunk: Chunk): Hunk => ({
    a: linesOf(original, a, chunk.fromA, chunk.toA),
    b: linesOf(editors.b.state.doc, b, chunk.fromB, chunk.toB),
  })

  function goTo(index: number): void {
    const chunk = chunks()[index]
    if (!chunk) return
    current = index
    editors.b.dispatch({
      selection: { anchor: Math.min(chunk.fromB, editors.b.state.doc.length) },
      effects: [
        markLines.of(shownLines(editors.b.state.doc, chunk.fromB, chunk.endB)),
        EditorView.scrollIntoView(Math.min(chunk.fromB, editors.b.state.doc.length), {
          y: 'center',
        }),
      ],
    })
  }

  return {
    go(direction) {
      const count = chunks().length
      if (direction === 'next') goTo((current + 1) % count)
      else goTo(current <= 0 ? count - 1 : current - 1)
    },
    goTo(hunk) {
      const found = chunks().findIndex((chunk) => {
        const own = hunkOf(chunk)
        // An empty range ends one line before it starts.
        return own.a.to + 1 >= hunk.a.from && own.b.to + 1 >= hunk.b.from
      })
      goTo(found < 0 ? chunks().length - 1 : found)
    },
    hunks: () => chunks().map(hunkOf),
    find(text, at) {
      const shown = [editors.a, editors.b].flatMap((editor) => editor ?? [])
      const counts = shown.map((editor) => {
        editor.dispatch({ effects: setFound.of({ text, current: null }) })
        return editor.state.field(finder).places.length
      })
      const count = counts.reduce((sum, own) => sum + own, 0)
      if (count === 0) return 0
      const wanted = ((at % count) + count) % count
      const side = wanted < counts[0]! ? 0 : 1
      const editor = shown[side]!
      const current = wanted - (side === 0 ? 0 : counts[0]!)
      const place = editor.state.field(finder).places[current]!
      const line = editor.state.doc.lineAt(place.from).number
      const name = shown.length === 1 || side === 1 ? 'b' : 'a'
      open(name, [sources[name].lines[line - 1]!])
      editor.dispatch({
        effects: [
          setFound.of({ text, current }),
          EditorView.scrollIntoView(place.from, { y: 'center' }),
        ],
      })
      return count
    },
    position: () => ({ index: current + 1, count: chunks().length }),
    current() {
      const chunk = chunks()[current]
      return chunk && hunkOf(chunk)
    },
    heat(side, heat) {
      const effect = setHeat.of(heat && { heat, lines: sources[side].lines })
      editors[side]?.dispatch({ effects: effect })
      const hot = [...(heat ?? [])].filter(([, share]) => share >= hotShare)
      open(
        side,
        hot.map(([line]) => line),
      )
    },
    show: (side, line) => void scrollTo(side, line),
    reveal(side, line) {
      const number = scrollTo(side, line)
      if (number !== undefined) editors[side]?.dispatch({ effects: markLines.of([number]) })
    },
    destroy,
  }
}
