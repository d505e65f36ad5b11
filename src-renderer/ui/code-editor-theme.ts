/**
 * Styles of the CodeMirror parts that only an editor has: panels, messages, and the current line.
 */
import { EditorView } from '@codemirror/view'

const underline = (colour: string) => ({
  backgroundImage: 'none',
  textDecoration: `underline wavy ${colour} 1px`,
  textUnderlineOffset: '3px',
})

const marker = (colour: string) => ({
  content: 'normal',
  width: '9px',
  height: '9px',
  margin: '4px 2px 0',
  borderRadius: '50%',
  background: colour,
})

export const editorTheme = EditorView.theme({
  '&': { height: '100%' },
  '&.cm-focused .cm-cursor': { borderLeftColor: 'var(--text)', borderLeftWidth: '2px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--surface-sunk)' },
  '.cm-activeLineGutter': { color: 'var(--text)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px solid var(--control)',
  },
  '.cm-selectionMatch, .cm-searchMatch': {
    backgroundColor: 'color-mix(in srgb, var(--caution) 22%, transparent)',
  },
  '.cm-searchMatch-selected': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 40%, transparent)',
  },
  '.cm-lintRange-error': underline('var(--worse)'),
  '.cm-lintRange-warning': underline('var(--caution)'),
  '.cm-lintRange-info': underline('var(--control)'),
  '.cm-gutter-lint': { width: '13px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0' },
  '.cm-lint-marker-error': marker('var(--worse)'),
  // Warnings have a square mark instead of a circle, so that severity is visible without color.
  '.cm-lint-marker-warning': { ...marker('var(--caution)'), borderRadius: '1px' },
  '.cm-lint-marker-info': { ...marker('var(--control)'), borderRadius: '1px' },
  '.cm-tooltip': {
    border: '1px solid var(--rule-strong)',
    borderRadius: 'var(--radius)',
    backgroundColor: 'var(--surface)',
    boxShadow: 'var(--shadow)',
    color: 'var(--text)',
    fontFamily: 'var(--font-ui)',
    fontSize: '12px',
  },
  '.cm-tooltip-lint': { maxWidth: '560px' },
  '.cm-diagnostic': { padding: '4px 8px', overflowWrap: 'anywhere' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--worse)' },
  '.cm-diagnostic-warning': { borderLeft: '3px solid var(--caution)' },
  '.cm-diagnostic-info': { borderLeft: '3px solid var(--control)' },
  '.cm-panels': {
    backgroundColor: 'var(--surface-sunk)',
    color: 'var(--text)',
    fontFamily: 'var(--font-ui)',
  },
  '.cm-panels-top': { borderBottom: '1px solid var(--rule)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--rule)' },
  '.cm-panel.cm-search': { padding: '6px 24px 6px 8px', fontSize: '12px' },
  '.cm-panel.cm-search label': { fontSize: '12px' },
  '.cm-textfield, .cm-button': {
    border: '1px solid var(--rule-strong)',
    borderRadius: 'var(--radius)',
    background: 'var(--surface)',
    color: 'var(--text)',
    fontSize: '12px',
  },
  '.cm-panel button[name=close]': { color: 'var(--text-2)', fontSize: '16px' },
  '.cm-panel.cm-panel-lint ul [aria-selected]': { backgroundColor: 'var(--surface-picked)' },
})
