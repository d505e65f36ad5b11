/**
 * Renders only the rows near the viewport. Each row is measured, because opened rows are taller.
 */
import { computed, nextTick, onMounted, ref, watch, type Ref } from 'vue'
import { useRecycled } from '../../ui/use-recycled'
import type { LadderRow } from './ladder-rows'

/**
 * Estimated heights in pixels, based on the styles. The estimates apply to rows that were never
 * visible.
 */
const rowHeight = 33
const [titleHeight, ideaLine, ideaLetters] = [20, 13, 50]
const wrapsIdeas = matchMedia('(min-width: 1400px)').matches
const usualHeight = ({ rung: { idea } }: LadderRow): number =>
  wrapsIdeas
    ? Math.max(rowHeight, titleHeight + ideaLine * Math.ceil(idea.length / ideaLetters))
    : rowHeight

export function useVirtualRows({
  rows,
  table,
  body,
  movedBy,
}: {
  rows: () => readonly LadderRow[]
  table: Readonly<Ref<HTMLElement | undefined>>
  /** The element that contains the rows. The rows begin at the top of this element. */
  body: Readonly<Ref<HTMLElement | undefined>>
  /** Values that, when they change, can move the top of the rows. */
  movedBy: () => readonly unknown[]
}) {
  /** The height above the rows, in pixels. */
  const above = ref(0)
  const { virtual, items } = useRecycled(() => ({
    count: rows().length,
    getScrollElement: () => table.value?.parentElement ?? null,
    estimateSize: (index: number) => {
      const row = rows()[index]
      return row ? usualHeight(row) : rowHeight
    },
    getItemKey: (index: number) => rows()[index]?.rung.id ?? index,
    scrollMargin: above.value,
    scrollPaddingStart: above.value,
    overscan: 4,
  }))
  watch(
    movedBy,
    async () => {
      await nextTick()
      above.value = body.value?.offsetTop ?? 0
    },
    { immediate: true, flush: 'post' },
  )
  onMounted(() => (above.value = body.value?.offsetTop ?? 0))
  const height = computed(() => virtual.value.getTotalSize())
  const shown = computed(() => items.value.filter(({ index }) => rows()[index]))
  /**
   * The rung for which each element was last measured. If an element is reused for a different
   * rung, the cache entry of the old rung must be removed.
   */
  const measured = new WeakMap<HTMLElement, string | undefined>()
  const measure = (element: unknown) => {
    if (!(element instanceof HTMLElement)) return
    const id = rows()[Number(element.dataset['index'])]?.rung.id
    const before = measured.get(element)
    const { elementsCache } = virtual.value
    if (before !== undefined && before !== id && elementsCache.get(before) === element)
      elementsCache.delete(before)
    measured.set(element, id)
    virtual.value.measureElement(element)
  }
  return { virtual, above, height, shown, measure }
}
