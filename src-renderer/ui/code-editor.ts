/**
 * A CodeMirror source editor that shows compiler messages at their lines. The editor is in a shadow
 * root, where CodeMirror adopts style sheets. In the document, CodeMirror would add a <style>
 * element, which the content security policy blocks.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import {
  lintGutter,
  lintKeymap,
  nextDiagnostic,
  setDiagnostics,
  type Diagnostic as LintDiagnostic,
} from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Text } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { codeHighlighting, codeTheme } from './code-theme'
import { syntaxOf } from './code-syntax'
import { lineBands, setBands, type LineBands } from './code-bands'
import { editorTheme } from './code-editor-theme'

/** A message at a 1-based line number. A message without a line is shown at the first line. */
export interface CodeDiagnostic {
  severity: 'error' | 'warning' | 'note'
  line: number | null
  message: string
}

interface CodeEditorOptions {
  text: string
  /** The file name, which determines the programming language. */
  file: string
  /** The editor's accessible name. */
  label: string
  readOnly: boolean
  /** Translations of CodeMirror's built-in phrases. The keys are the English phrases. */
  phrases: Record<string, string>
  onChange: (text: string) => void
  /** Called on Ctrl+Enter or ⌘Enter. */
  onRun: () => void
  /** Called on Ctrl+S or ⌘S. The browser's save dialog stays closed. */
  onSave: () => void
  /** Called with the cursor's 1-based line number whenever the line changes. */
  onLine: (line: number) => void
}

export interface CodeEditor {
  /** Replaces the editor's text if the new text differs. The user can undo the replacement. */
  setText(text: string): void
  setReadOnly(readOnly: boolean): void
  setDiagnostics(diagnostics: readonly CodeDiagnostic[]): void
  /** Moves the cursor to a 1-based line number, and scrolls to that line. */
  goToLine(line: number): void
  goToNextDiagnostic(): void
  setBands(bands: LineBands): void
  focus(): void
  destroy(): void
}

const lineOf = ({ doc, selection }: EditorState): number => doc.lineAt(selection.main.head).number

const severities = { error: 'error', warning: 'warning', note: 'info' } as const

const toLint = (doc: Text, { severity, line, message }: CodeDiagnostic): LintDiagnostic => {
  const { from, to, text } = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines))
  const indent = text.length - text.trimStart().length
  return { from: Math.min(from + indent, to), to, severity: severities[severity], message }
}

export function createCodeEditor(root: ShadowRoot, options: CodeEditorOptions): CodeEditor {
  const writable = new Compartment()
  const access = (readOnly: boolean) => EditorState.readOnly.of(readOnly)
  const command = (work: () => void) => () => {
    work()
    return true
  }
  const view = new EditorView({
    doc: options.text,
    parent: root,
    root,
    extensions: [
      // The keymap for Mod-Enter must come first, so that ⌘Enter does not insert a line break.
      keymap.of([
        { key: 'Mod-Enter', run: command(options.onRun) },
        { key: 'Mod-s', run: command(options.onSave), preventDefault: true },
      ]),
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      search({ top: true }),
      // Escape followed by Tab leaves the editor, because Tab alone indents the code.
      keymap.of([
        ...defaultKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...lintKeymap,
        indentWithTab,
      ]),
      syntaxOf(options.file),
      syntaxHighlighting(codeHighlighting),
      EditorState.phrases.of(options.phrases),
      writable.of(access(options.readOnly)),
      EditorView.contentAttributes.of({
        tabindex: '0',
        'aria-label': options.label,
        spellcheck: 'false',
      }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) options.onChange(update.state.doc.toString())
        const line = lineOf(update.state)
        if (line !== lineOf(update.startState)) options.onLine(line)
      }),
      lineBands,
      codeTheme,
      editorTheme,
    ],
  })
  return {
    setText(text) {
      const old = view.state.doc
      if (old.toString() === text) return
      view.dispatch({ changes: { from: 0, to: old.length, insert: text } })
    },
    setReadOnly(readOnly) {
      view.dispatch({ effects: writable.reconfigure(access(readOnly)) })
    },
    setDiagnostics(diagnostics) {
      const { doc } = view.state
      const lint = diagnostics.map((diagnostic) => toLint(doc, diagnostic))
      view.dispatch(
        setDiagnostics(
          view.state,
          lint.sort((a, b) => a.from - b.from),
        ),
      )
    },
    goToLine(line) {
      const { from } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines))
      view.dispatch({
        selection: { anchor: from },
        effects: EditorView.scrollIntoView(from, { y: 'center' }),
      })
      view.focus()
    },
    goToNextDiagnostic() {
      nextDiagnostic(view)
      view.focus()
    },
    setBands: (bands) => view.dispatch({ effects: setBands.of(bands) }),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  }
}
