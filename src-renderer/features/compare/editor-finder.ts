/**
 * Marks every match of a search in an editor. CodeMirror's own search marks matches only while its
 * panel is open.
 */
import { SearchCursor } from '@codemirror/search'
import { StateEffect, StateField } from '@codemirror/state'
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view'

interface Place {
  from: number
  to: number
}

interface Found {
  text: string
  places: readonly Place[]
  marks: DecorationSet
}

/** Sets the search text (case-insensitive) and the index of the current match. */
export const setFound = StateEffect.define<{ text: string; current: number | null }>()

const nothing: Found = { text: '', places: [], marks: Decoration.none }

const mark = Decoration.mark({ class: 'cm-found' })

const currentMark = Decoration.mark({ class: 'cm-found cm-foundCurrent' })

export const finder = StateField.define<Found>({
  create: () => nothing,
  update(value, { effects, state }) {
    const wanted = effects.find((effect) => effect.is(setFound))?.value
    if (!wanted) return value
    const { text, current } = wanted
    if (text === '') return nothing
    const places: readonly Place[] =
      text === value.text
        ? value.places
        : [...new SearchCursor(state.doc, text, 0, state.doc.length, (own) => own.toLowerCase())]
    return {
      text,
      places,
      marks: Decoration.set(
        places.map(({ from, to }, index) =>
          (index === current ? currentMark : mark).range(from, to),
        ),
      ),
    }
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ marks }) => marks),
    EditorView.theme({
      '.cm-found': { outline: '1px solid var(--caution)' },
      '.cm-foundCurrent': { backgroundColor: 'var(--caution-surface)', outlineWidth: '2px' },
    }),
  ],
})
