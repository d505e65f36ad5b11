/**
 * A list that keeps only items near the viewport in the page. An item that scrolls out of view
 * gives its element to one that scrolls in. Updating an element's text costs a fraction of creating
 * it with its components, layout, and paint.
 */
import {
  defaultRangeExtractor,
  useVirtualizer,
  type Range,
  type VirtualItem,
  type Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/vue-virtual'
import { computed, onBeforeUpdate, onUpdated, type ComputedRef, type Ref } from 'vue'

export interface RecycledItem extends VirtualItem {
  /** The element that shows the item. Use it as the `v-for` key. */
  slot: number
}

type Options = Pick<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  'count' | 'getScrollElement' | 'estimateSize' | 'overscan'
> &
  Partial<VirtualizerOptions<HTMLElement, HTMLElement>>

/**
 * Returns as many items as the widest range so far. Otherwise, an item would be created again each
 * time a row crosses an edge.
 */
export function constantRange(): (range: Range) => number[] {
  let widest = 0
  return (range) => {
    const near = defaultRangeExtractor(range)
    widest = Math.max(widest, range.endIndex - range.startIndex + 1 + 2 * range.overscan)
    const length = Math.min(widest, range.count)
    const first = Math.max(0, Math.min(near[0] ?? 0, range.count - length))
    return Array.from({ length }, (_, at) => first + at)
  }
}

/**
 * Returns items in the order of their elements in the document, so they must be placed by position.
 * No element moves during scrolling. At rest, items return to their own order, which reading and
 * Tab follow.
 */
export function inSlots(
  before: readonly RecycledItem[],
  items: readonly VirtualItem[],
  isScrolling: boolean,
): RecycledItem[] {
  const wanted = new Map(items.map((item) => [item.index, item]))
  const taken = new Set(before.map(({ index }) => index))
  const fresh = items.filter(({ index }) => !taken.has(index))
  let unused = before.reduce((past, { slot }) => Math.max(past, slot + 1), 0)
  const placed = before.flatMap(({ slot, index }) => {
    const item = wanted.get(index) ?? fresh.shift()
    return item ? [{ ...item, slot }] : []
  })
  for (const item of fresh) placed.push({ ...item, slot: unused++ })
  return isScrolling ? placed : placed.sort((one, other) => one.index - other.index)
}

const isSame = (one: RecycledItem, other: RecycledItem | undefined) =>
  one.slot === other?.slot && one.index === other.index && one.start === other.start

export function useRecycled(options: () => Options): {
  virtual: Ref<Virtualizer<HTMLElement, HTMLElement>>
  /** The same array as long as nothing in it changes. */
  items: ComputedRef<RecycledItem[]>
} {
  const rangeExtractor = constantRange()
  const virtual = useVirtualizer<HTMLElement, HTMLElement>(
    computed(() => ({ ...options(), rangeExtractor })),
  )
  const items = computed<RecycledItem[]>((before = []) => {
    const next = inSlots(before, virtual.value.getVirtualItems(), virtual.value.isScrolling)
    return before.length === next.length && next.every((item, at) => isSame(item, before[at]))
      ? before
      : next
  })
  return { virtual, items }
}

/**
 * For rows that take the focus. The focus stays with its item, identified by the id that `idAt`
 * returns for an element.
 */
export function useOwnFocus(
  container: Ref<HTMLElement | undefined>,
  idAt: (element: Element) => string | undefined,
): void {
  let focused: { element: HTMLElement; id: string | undefined } | undefined
  onBeforeUpdate(() => {
    const element = document.activeElement
    focused =
      element instanceof HTMLElement && container.value?.contains(element)
        ? { element, id: idAt(element) }
        : undefined
  })
  onUpdated(() => {
    if (!focused) return
    const { element, id } = focused
    // The item scrolled out of view. Its focus must not stay on the element that now shows another
    // item.
    if (idAt(element) !== id) element.blur()
    // Moving an element within the document removes its focus.
    else if (document.activeElement !== element) element.focus({ preventScroll: true })
  })
}
