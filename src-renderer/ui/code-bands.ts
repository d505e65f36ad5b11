/**
 * Colors that link editor lines to their compiled code. A band number has the same color in the
 * editor and in the compiled code next to the editor. The colors move with the text during editing.
 */
import { StateEffect, StateField, type Extension } from '@codemirror/state'
import { EditorView, Decoration, type DecorationSet } from '@codemirror/view'

/** Number of different colors. */
export const bandCount = 6

export type LineBands = ReadonlyMap<number, number>

/**
 * Sets the color of each line, keyed by 1-based line number. Lines outside the document are
 * ignored.
 */
export const setBands = StateEffect.define<LineBands>()

const bands = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, { effects, state, changes }) {
    const set = effects.find((effect) => effect.is(setBands))?.value
    if (!set) return value.map(changes)
    return Decoration.set(
      [...set]
        .filter(([line]) => line >= 1 && line <= state.doc.lines)
        .map(([line, band]) =>
          Decoration.line({ class: `cm-band cm-band-${band}` }).range(state.doc.line(line).from),
        ),
      true,
    )
  },
  provide: (field) => EditorView.decorations.from(field),
})

export const bandColor = (band: number): string => `var(--series-${band + 1})`

export const lineBands: Extension = [
  bands,
  EditorView.theme(
    Object.fromEntries(
      Array.from({ length: bandCount }, (_, band) => [
        `.cm-band-${band}`,
        { boxShadow: `inset 3px 0 0 ${bandColor(band)}` },
      ]),
    ),
  ),
]
