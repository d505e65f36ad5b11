/**
 * A list of which only what is near the viewport is in the page. An item that scrolls out of view hands its element to one that
 * comes in: changing an element's words costs a fraction of making one with its components, layout and paint.
 */
import {
  defaultRangeExtractor,
  useVirtualizer,
  type Range,
  type VirtualItem,
  type Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/vue-virtual'
import { computed, type ComputedRef, type Ref } from 'vue'

export interface RecycledItem extends VirtualItem {
  /** The element that it is drawn in: the key of a `v-for`. */
  slot: number
}

type Options = Pick<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  'count' | 'getScrollElement' | 'estimateSize' | 'overscan'
> &
  Partial<VirtualizerOptions<HTMLElement, HTMLElement>>

/** As many items as the widest range so far: one that comes and goes as rows cross the edges would be made anew each time. */
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
 * Items in the order of their elements in the document, hence to be placed by position. While it scrolls no element moves there; at
 * rest they come in their own order, which is that of reading and of Tab.
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
  /** The same array while nothing in it changes. */
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
