/** Keys that work on every screen: the palette, the help sheet, and g with a letter for a screen. */
import { onBeforeUnmount, onMounted } from 'vue'
import type { GoTo } from './go-to'
import { goTos } from './go-to'

export interface ShortcutActions {
  palette(): void
  help(): void
  goTo(place: GoTo): void
}

/** How long a letter may follow its g. */
const sequenceMs = 1500

/** Where letters are text, they stay text. */
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
    // A dialog that is open has the keys to itself.
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
  // Before the screens: the letter after g is none of theirs.
  onMounted(() => addEventListener('keydown', onKey, { capture: true }))
  onBeforeUnmount(() => removeEventListener('keydown', onKey, { capture: true }))
}
