/**
 * Two versions of a source in CodeMirror, side by side or as one text. They live in a shadow root:
 * there CodeMirror adopts style sheets, where in the document it would add a <style> element that
 * the content security policy blocks.
 */
import { cpp } from '@codemirror/lang-cpp'
import { syntaxHighlighting } from '@codemirror/language'
import { getChunks, MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, lineNumbers } from '@codemirror/view'
import { codeHighlighting, codeTheme } from '../../ui/code-theme'
import { currentChange, markChange } from './current-change'

export type SourceLayout = 'split' | 'unified'

export interface SourceView {
  /** Moves to the next or the previous change. */
  go(direction: 'next' | 'previous'): void
  /** How many changes there are, and the one moved to, from 1; 0 before any. */
  position(): { index: number; count: number }
  destroy(): void
}

function common(label: string, wrap: boolean): Extension {
  return [
    lineNumbers(),
    drawSelection(),
    cpp(),
    syntaxHighlighting(codeHighlighting),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, role: 'textbox' }),
    codeTheme,
    currentChange,
    wrap ? EditorView.lineWrapping : [],
  ]
}

const collapseUnchanged = { margin: 3, minSize: 4 }

export function createSourceView(
  root: ShadowRoot,
  a: { text: string; label: string },
  b: { text: string; label: string },
  options: { layout: SourceLayout; wrap: boolean },
): SourceView {
  let editor: EditorView
  let destroy: () => void
  if (options.layout === 'split') {
    const merge = new MergeView({
      a: { doc: a.text, extensions: common(a.label, options.wrap) },
      b: { doc: b.text, extensions: common(b.label, options.wrap) },
      parent: root,
      root,
      collapseUnchanged,
      gutter: true,
    })
    editor = merge.b
    destroy = () => merge.destroy()
  } else {
    editor = new EditorView({
      doc: b.text,
      extensions: [
        common(b.label, options.wrap),
        unifiedMergeView({ original: a.text, mergeControls: false, collapseUnchanged }),
      ],
      parent: root,
      root,
    })
    destroy = () => editor.destroy()
  }

  // None before the first step; after the last comes the first again.
  let current = -1
  const chunks = () => getChunks(editor.state)?.chunks ?? []
  return {
    go(direction) {
      const count = chunks().length
      if (direction === 'next') current = (current + 1) % count
      else current = current <= 0 ? count - 1 : current - 1
      const chunk = chunks()[current]
      if (!chunk) return
      editor.dispatch({
        selection: { anchor: chunk.fromB },
        effects: [
          markChange.of({ from: chunk.fromB, to: chunk.endB }),
          EditorView.scrollIntoView(chunk.fromB, { y: 'center' }),
        ],
      })
    },
    position: () => ({ index: current + 1, count: chunks().length }),
    destroy,
  }
}
