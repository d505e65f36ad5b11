/** A chart's zoom state. Only the axes in `axes` can be zoomed and panned. */
import { computed, shallowRef, watch } from 'vue'
import {
  beyondFrame,
  pannedSpan,
  unzoomed,
  wholeAxis,
  zoomedSpan,
  type Span,
  type ZoomState,
} from './zoom'

export function useZoom(axes: () => 'x' | 'y' | 'xy' | undefined) {
  const zoomState = shallowRef<ZoomState>(unzoomed)
  const limits = computed(() => (axes() === 'xy' ? beyondFrame : wholeAxis))

  function change(spanOf: (side: 'x' | 'y', span: Span) => Span): void {
    const side = (which: 'x' | 'y') =>
      axes()?.includes(which) ? spanOf(which, zoomState.value[which]) : zoomState.value[which]
    zoomState.value = { x: side('x'), y: side('y') }
  }
  function zoomBy(factor: number, at = { x: 0.5, y: 0.5 }): void {
    change((side, span) =>
      zoomedSpan(span, factor, Math.min(1, Math.max(0, at[side])), limits.value),
    )
  }
  function panBy(by: { x: number; y: number }): void {
    change((side, span) => (by[side] === 0 ? span : pannedSpan(span, by[side], limits.value)))
  }
  function resetZoom(): void {
    zoomState.value = unzoomed
  }
  watch(axes, resetZoom)

  return { zoomState, zoomBy, panBy, resetZoom }
}
