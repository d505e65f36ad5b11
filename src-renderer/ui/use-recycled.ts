/**
 * A list that renders only the items near the viewport. An item that scrolls out of view passes its
 * element to an item that scrolls in. Updating an element's text is much cheaper than creating the
 * element with its components, layout, and paint.
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
  /** Number of the element that shows the item. Use this number as the `v-for` key. */
  slot: number
}

type Options = Pick<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  'count' | 'getScrollElement' | 'estimateSize' | 'overscan'
> &
  Partial<VirtualizerOptions<HTMLElement, HTMLElement>>

/**
 * Returns a function that always returns as many items as the widest range so far. With a varying
 * number of items, an element would be created each time a row crosses an edge.
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
 * Returns the items in the order of their elements in the document. The caller must place the items
 * by position. During scrolling, no element moves within the document. At rest, items are in list
 * order again, because reading and Tab follow the document order.
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
  /** The items to render. The array keeps its identity until an item changes. */
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
 * Keeps the focus on an item when elements are reused, for focusable rows. `idAt` returns the id of
 * the item in an element.
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
    // The focused item scrolled out of view. Remove the focus, because the element now shows
    // another item.
    if (idAt(element) !== id) element.blur()
    // Restore the focus, because moving an element within the document removes it.
    else if (document.activeElement !== element) element.focus({ preventScroll: true })
  })
}
