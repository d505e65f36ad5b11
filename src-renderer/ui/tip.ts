/**
 * Tooltips without a component per element, because a table has hundreds of tooltips. The directive
 * stores an element's tip. A single layer (TipLayer.vue) shows the tip on hover and focus.
 */
import { shallowRef, type Directive } from 'vue'

export interface TipContent {
  title?: string | undefined
  lines: readonly string[]
}
/**
 * The content of a tip. Content given as a function is computed only when the tip is shown, because
 * most tips in a table are never opened.
 */
export type Tip = string | TipContent | null | undefined | (() => TipContent)

const contents = new WeakMap<Element, Tip>()

export const tip: Directive<HTMLElement, Tip> = {
  mounted: (element, { value }) => void setTip(element, value),
  updated: (element, { value }) => void setTip(element, value),
}

function setTip(element: HTMLElement, value: Tip): void {
  contents.set(element, value)
  const hasTip = Boolean(value)
  // Set the attribute only if a tip was added or removed, because setting it triggers a style
  // recalculation.
  if (hasTip !== 'tip' in element.dataset) element.toggleAttribute('data-tip', hasTip)
}

export const shownTip = shallowRef<{ element: HTMLElement; content: TipContent } | null>(null)

export function tipAt(target: EventTarget | null): typeof shownTip.value {
  if (!(target instanceof Element)) return null
  const element = target.closest<HTMLElement>('[data-tip]')
  const given = element && contents.get(element)
  const content = typeof given === 'function' ? given() : given
  if (!element || !content) return null
  return { element, content: typeof content === 'string' ? { lines: [content] } : content }
}
