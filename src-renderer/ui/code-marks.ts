/**
 * Marks editor lines, such as the lines of the current change. An editor selection cannot serve as
 * the mark, because a diff's own marks would hide it.
 */
import { StateEffect, StateField, type Extension } from '@codemirror/state'
import { EditorView, Decoration, type DecorationSet } from '@codemirror/view'

/**
 * Sets the marked document lines, as 1-based line numbers in ascending order. Lines outside the
 * document are ignored.
 */
export const markLines = StateEffect.define<readonly number[]>()

const line = Decoration.line({ class: 'cm-markedLine' })

const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, { effects, state }) {
    const lines = effects.find((effect) => effect.is(markLines))?.value
    return lines
      ? Decoration.set(
          lines
            .filter((number) => number >= 1 && number <= state.doc.lines)
            .map((number) => line.range(state.doc.line(number).from)),
        )
      : value
  },
  provide: (field) => EditorView.decorations.from(field),
})

export const markedLines: Extension = [
  marked,
  EditorView.theme({
    '.cm-markedLine': {
      backgroundColor: 'color-mix(in srgb, var(--accent) 14%, transparent)',
      boxShadow: 'inset 3px 0 0 var(--accent)',
    },
  }),
]
