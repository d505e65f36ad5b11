/** CodeMirror's theme and C++ highlighting for all source text. */
import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export const codeHighlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.typeName, tags.standard(tags.typeName)], color: 'var(--code-type)' },
  { tag: [tags.string, tags.character], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.processingInstruction, tags.meta, tags.macroName], color: 'var(--code-macro)' },
  { tag: [tags.function(tags.variableName)], color: 'var(--code-function)' },
])

/**
 * CodeMirror theme based on the design tokens. The shadow root inherits the tokens, which follow
 * the color scheme.
 */
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
    // Replace CodeMirror's default symbols, because many fonts lack them.
    '&::before, &::after': { content: '"↕"' },
  },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 30%, transparent) !important',
  },
})
