/** Marks the lines of the current change; the selection would be hidden beneath the diff's own marks. */
import { StateEffect, StateField, type Extension } from '@codemirror/state'
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view'

export const markChange = StateEffect.define<{ from: number; to: number }>()

const line = Decoration.line({ class: 'cm-currentChange' })

const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, { effects, state }) {
    const range = effects.find((effect) => effect.is(markChange))?.value
    if (!range) return value
    const starts = []
    for (let at = range.from; at <= range.to && at <= state.doc.length;) {
      const { from, to } = state.doc.lineAt(at)
      starts.push(line.range(from))
      at = to + 1
    }
    return Decoration.set(starts)
  },
  provide: (field) => EditorView.decorations.from(field),
})

export const currentChange: Extension = [
  marked,
  EditorView.theme({ '.cm-currentChange': { boxShadow: 'inset 3px 0 0 var(--accent)' } }),
]
