/** Keys that work on every screen: the palette, the help sheet, and g plus a letter for a screen. */
import { onBeforeUnmount, onMounted } from 'vue'
import type { GoTo } from './go-to'
import { goTos } from './go-to'

export interface ShortcutActions {
  palette(): void
  help(): void
  goTo(place: GoTo): void
}

/** How long after g the letter may follow. */
const sequenceMs = 1500

/** Fields where letters are text, not shortcuts. */
const takesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest('input:not([type=checkbox], [type=radio]), textarea, select') !== null)

export function useShortcuts(actions: ShortcutActions): void {
  let afterG = Number.NEGATIVE_INFINITY

  function onKey(event: KeyboardEvent): void {
    const done = (): void => {
      event.preventDefault()
      event.stopPropagation()
    }
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
      done()
      return actions.palette()
    }
    if (event.ctrlKey || event.metaKey || event.altKey || takesText(event.target)) return
    // An open dialog handles its own keys.
    if (document.querySelector('[role="dialog"]')) return
    const waited = performance.now() - afterG
    afterG = Number.NEGATIVE_INFINITY
    if (waited < sequenceMs) {
      const place = goTos.find(({ key }) => key === event.key)
      if (!place) return
      done()
      return actions.goTo(place)
    }
    if (event.key === 'g') {
      afterG = performance.now()
      done()
    } else if (event.key === '?') {
      done()
      actions.help()
    }
  }
  // In the capture phase: the letter after g must not reach a screen's own shortcuts.
  onMounted(() => addEventListener('keydown', onKey, { capture: true }))
  onBeforeUnmount(() => removeEventListener('keydown', onKey, { capture: true }))
}
