/** CodeMirror's looks and words: the style of source text everywhere, of what only an editor has, and its phrases. */
import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

// The style of source text everywhere: CodeMirror's theme and C++ highlighting.

export const codeHighlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.typeName, tags.standard(tags.typeName)], color: 'var(--code-type)' },
  { tag: [tags.string, tags.character], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.processingInstruction, tags.meta, tags.macroName], color: 'var(--code-macro)' },
  { tag: [tags.function(tags.variableName)], color: 'var(--code-function)' },
])

/** Uses the design tokens, which are inherited by the shadow root and follow the color scheme. */
export const codeTheme = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '12px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-code)', lineHeight: '18px' },
  '.cm-content': { padding: '4px 0' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text-3)',
    borderRight: '1px solid var(--rule)',
  },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '34px', padding: '0 6px 0 4px' },
  '.cm-changeGutter': { width: '3px', paddingLeft: '0' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--diff-removed)' },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine, &.cm-editor:not(.cm-merge-a) .cm-changedLine':
    { backgroundColor: 'var(--diff-added)' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'var(--diff-removed-text)',
  },
  '&.cm-editor:not(.cm-merge-a) .cm-changedText': { background: 'var(--diff-added-text)' },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--worse)' },
  '&.cm-editor:not(.cm-merge-a) .cm-changedLineGutter': { background: 'var(--better)' },
  '.cm-collapsedLines': {
    background: 'var(--surface-sunk)',
    color: 'var(--text-2)',
    borderBlock: '1px solid var(--rule)',
    fontFamily: 'var(--font-ui)',
    fontSize: '11px',
    padding: '1px 8px 1px 44px',
    // Many fonts lack the default symbols before and after.
    '&::before, &::after': { content: '"↕"' },
  },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 30%, transparent) !important',
  },
})

// Styles of CodeMirror parts that only an editor has: panels, messages and current line.

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
  // A square, not a circle, so that severity does not depend on color alone.
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

/** CodeMirror's own English phrases and the keys of their translations (`code.<key>`). */
export const phraseKeys = {
  Find: 'find',
  Replace: 'replaceField',
  next: 'next',
  previous: 'previous',
  all: 'all',
  'match case': 'matchCase',
  regexp: 'regexp',
  'by word': 'byWord',
  replace: 'replace',
  'replace all': 'replaceAll',
  close: 'close',
  'current match': 'currentMatch',
  'on line': 'onLine',
  'replaced match on line $': 'replacedMatch',
  'replaced $ matches': 'replacedMatches',
  'Go to line': 'goToLine',
  go: 'go',
  Diagnostics: 'diagnostics',
  'No diagnostics': 'noDiagnostics',
  '$ unchanged lines': 'unchangedLines',
} as const

/** CodeMirror's phrases in the current language, by English text. */
export const codePhrases = (t: (key: string) => string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(phraseKeys).map(([english, key]) => [english, t(`code.${key}`)]),
  )
