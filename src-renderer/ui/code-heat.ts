/** A gutter that shows each line's share of a counter as a number on a tint. */
import { RangeSet, StateEffect, StateField, type Extension, type Range } from '@codemirror/state'
import { EditorView, gutter, GutterMarker } from '@codemirror/view'

/** Each file line's share of the rung's total, from 0 to 1. */
export type Heat = ReadonlyMap<number, number>

/** Sets the shares and the file line of each document line. null clears the gutter. */
export const setHeat = StateEffect.define<{ heat: Heat; lines: readonly number[] } | null>()

/** Formats a share as a percentage that fits into the gutter. */
export function percentText(share: number): string {
  if (share < 0.0005) return '<0.1'
  return share >= 0.0995 ? `${Math.round(share * 100)}` : (share * 100).toFixed(1)
}

class HeatMarker extends GutterMarker {
  constructor(readonly share: number) {
    super()
  }

  override eq(other: HeatMarker): boolean {
    return other.share === this.share
  }

  override toDOM(): HTMLElement {
    const mark = document.createElement('span')
    mark.textContent = percentText(this.share)
    // Use one class per tint, because the content security policy forbids style attributes.
    mark.className = `cm-heat-${Math.min(5, Math.ceil(this.share * 20))}`
    return mark
  }
}

const heatField = StateField.define<RangeSet<HeatMarker>>({
  create: () => RangeSet.empty,
  update(value, { effects, state }) {
    const effect = effects.find((candidate) => candidate.is(setHeat))
    if (!effect) return value
    if (!effect.value) return RangeSet.empty
    const { heat, lines } = effect.value
    const marks: Range<HeatMarker>[] = []
    for (let line = 1; line <= state.doc.lines; line += 1) {
      const share = heat.get(lines[line - 1] ?? 0)
      if (share !== undefined && share > 0)
        marks.push(new HeatMarker(share).range(state.doc.line(line).from))
    }
    return RangeSet.of(marks)
  },
})

export const heatGutter: Extension = [
  heatField,
  gutter({
    class: 'cm-heatGutter',
    markers: (view) => view.state.field(heatField),
  }),
  EditorView.theme({
    '.cm-heatGutter .cm-gutterElement': {
      padding: '0',
      textAlign: 'right',
      fontSize: '11px',
      color: 'var(--text)',
    },
    '.cm-heatGutter span': { display: 'block', minWidth: '32px', padding: '0 5px 0 3px' },
    ...Object.fromEntries(
      [6, 14, 24, 36, 50].map((strength, index) => [
        `.cm-heat-${index + 1}`,
        { backgroundColor: `color-mix(in srgb, var(--series-4) ${strength}%, transparent)` },
      ]),
    ),
  }),
]
