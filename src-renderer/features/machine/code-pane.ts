/** One source in CodeMirror, read only, with heat beside its lines; in a shadow root, as the content security policy needs. */
import { syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, lineNumbers } from '@codemirror/view'
import { keptCpp } from '../../ui/code-syntax'
import { codeHighlighting, codeTheme } from '../../ui/code-theme'
import { heatGutter, setHeat, type Heat, markedLines, markLines } from '../../ui/code-marks'

export interface CodePane {
  heat(heat: Heat | null): void
  /** Marks lines and scrolls to the first. */
  mark(lines: readonly number[]): void
  destroy(): void
}

export function createCodePane(
  root: ShadowRoot,
  { text, label }: { text: string; label: string },
  on: {
    line(line: number): void
    /** To the next line that has machine code, or the one before. */
    step(by: 1 | -1): void
  },
): CodePane {
  const view = new EditorView({
    doc: text,
    parent: root,
    root,
    extensions: [
      heatGutter,
      lineNumbers(),
      drawSelection(),
      keptCpp(),
      syntaxHighlighting(codeHighlighting),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({
        tabindex: '0',
        'aria-label': label,
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-readonly': 'true',
      }),
      EditorView.domEventHandlers({
        click(event, { state }) {
          const position = view.posAtCoords(event)
          // A drag selects text, not a line.
          if (position === null || !state.selection.main.empty) return
          on.line(state.doc.lineAt(position).number)
        },
        keydown({ key, ctrlKey, altKey, metaKey }) {
          if (ctrlKey || altKey || metaKey || (key !== 'ArrowDown' && key !== 'ArrowUp'))
            return false
          on.step(key === 'ArrowDown' ? 1 : -1)
          return true
        },
      }),
      codeTheme,
      markedLines,
      EditorView.theme({ '&': { height: '100%' }, '.cm-scroller': { overflow: 'auto' } }),
    ],
  })
  const lines = Array.from({ length: view.state.doc.lines }, (_, index) => index + 1)
  return {
    heat: (heat) => view.dispatch({ effects: setHeat.of(heat && { heat, lines }) }),
    mark(wanted) {
      const [first] = wanted.filter((line) => line <= view.state.doc.lines)
      view.dispatch({
        effects: [
          markLines.of(wanted),
          ...(first === undefined
            ? []
            : [EditorView.scrollIntoView(view.state.doc.line(first).from, { y: 'center' })]),
        ],
      })
    },
    destroy: () => view.destroy(),
  }
}
