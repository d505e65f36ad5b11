/**
 * Two versions of a source in CodeMirror, side by side or unified. They live in a shadow root, where
 * CodeMirror adopts style sheets; in the document it would add a <style> element, which the content
 * security policy blocks.
 */
import { cpp } from '@codemirror/lang-cpp'
import { syntaxHighlighting } from '@codemirror/language'
import { getChunks, MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, lineNumbers } from '@codemirror/view'
import type { Hunk } from '../../../src-main/domain/analysis/chain'
import { codeHighlighting, codeTheme } from '../../ui/code-theme'
import { currentChange, markChange } from './current-change'
import { heatGutter, setHeat, type Heat } from './heat-gutter'
import type { SourceText } from './source-header'
import { diffConfig, linesOf, textOf } from './source-hunks'
import { collapseUnchanged, unfold } from './unfold'

export type SourceLayout = 'split' | 'unified'
export type SideName = 'a' | 'b'

export interface SourceView {
  /** Moves to the next or previous change. */
  go(direction: 'next' | 'previous'): void
  /** Moves to a change by index, from 0. */
  goTo(index: number): void
  /** The number of changes, and the current one, from 1; 0 before the first move. */
  position(): { index: number; count: number }
  /** File lines of the current change; undefined before the first move. */
  current(): Hunk | undefined
  /** Shares by file line; null for none. The unified layout can only show those of b. */
  heat(side: SideName, heat: Heat | null): void
  /** Scrolls to a file line, if its side is shown. */
  reveal(side: SideName, line: number): void
  destroy(): void
}

export interface SourceViewOptions {
  layout: SourceLayout
  wrap: boolean
  /** Called when a file line is clicked. */
  onLine(side: SideName, line: number): void
}

function common(side: SideName, source: SourceText, options: SourceViewOptions): Extension {
  return [
    heatGutter,
    lineNumbers({ formatNumber: (number) => String(number + source.offset) }),
    drawSelection(),
    cpp(),
    syntaxHighlighting(codeHighlighting),
    EditorState.readOnly.of(true),
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
        // A drag selects text, not a line.
        if (position === null || !view.state.selection.main.empty) return
        options.onLine(side, view.state.doc.lineAt(position).number + source.offset)
      },
    }),
    codeTheme,
    currentChange,
    options.wrap ? EditorView.lineWrapping : [],
  ]
}

/** Lines with at least this share of the rung are never folded. */
const hotShare = 0.03

export function createSourceView(
  root: ShadowRoot,
  a: SourceText,
  b: SourceText,
  options: SourceViewOptions,
): SourceView {
  let editors: { a: EditorView | undefined; b: EditorView }
  let destroy: () => void
  if (options.layout === 'split') {
    const merge = new MergeView({
      a: { doc: a.text, extensions: common('a', a, options) },
      b: { doc: b.text, extensions: common('b', b, options) },
      parent: root,
      root,
      collapseUnchanged,
      gutter: true,
      diffConfig,
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
          diffConfig,
        }),
      ],
      parent: root,
      root,
    })
    editors = { a: undefined, b: editor }
    destroy = () => editor.destroy()
  }
  const offsets = { a: a.offset, b: b.offset }
  const original = textOf(a)

  // −1 before the first move; moving past the last wraps around.
  let current = -1
  const chunks = () => getChunks(editors.b.state)?.chunks ?? []

  /** Unfolds whatever hides these file lines. */
  function open(side: SideName, lines: readonly number[]): void {
    const shown = new Set(lines.map((line) => line - offsets[side]))
    const none = new Set<number>()
    unfold(editors, original, chunks(), {
      a: side === 'a' ? shown : none,
      b: side === 'b' ? shown : none,
    })
  }

  function goTo(index: number): void {
    const chunk = chunks()[index]
    if (!chunk) return
    current = index
    editors.b.dispatch({
      selection: { anchor: Math.min(chunk.fromB, editors.b.state.doc.length) },
      effects: [
        markChange.of({ from: chunk.fromB, to: chunk.endB }),
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
    goTo,
    position: () => ({ index: current + 1, count: chunks().length }),
    current() {
      const chunk = chunks()[current]
      if (!chunk) return undefined
      return {
        a: linesOf(original, a.offset, chunk.fromA, chunk.toA),
        b: linesOf(editors.b.state.doc, b.offset, chunk.fromB, chunk.toB),
      }
    },
    heat(side, heat) {
      const effect = setHeat.of(heat && { heat, offset: offsets[side] })
      editors[side]?.dispatch({ effects: effect })
      const hot = [...(heat ?? [])].filter(([, share]) => share >= hotShare)
      open(
        side,
        hot.map(([line]) => line),
      )
    },
    reveal(side, line) {
      const editor = editors[side]
      const number = line - offsets[side]
      if (!editor || number < 1 || number > editor.state.doc.lines) return
      open(side, [line])
      const { from, to } = editor.state.doc.line(number)
      editor.dispatch({
        effects: [
          markChange.of({ from, to }),
          EditorView.scrollIntoView(from, { y: 'nearest', yMargin: 40 }),
        ],
      })
    },
    destroy,
  }
}
