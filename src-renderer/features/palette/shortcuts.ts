/** Keys that work on every screen: the palette, the help sheet, and g followed by a letter. */
import { onBeforeUnmount, onMounted } from 'vue'
import { goTos, type GoTo } from './screen-keys'

interface ShortcutActions {
  palette(): void
  help(): void
  goTo(place: GoTo): void
}

/** Time in milliseconds within which the letter must follow g. */
const sequenceMs = 1500

/** Returns whether the target is a field where letters are text. */
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
  // Use the capture phase, so that the letter after g does not trigger a screen's own shortcut.
  onMounted(() => addEventListener('keydown', onKey, { capture: true }))
  onBeforeUnmount(() => removeEventListener('keydown', onKey, { capture: true }))
}

/** Keys listed in the help sheet. Their descriptions are `help.<group>.<entry>` in the locale. */
export const helpGroups = [
  {
    id: 'everywhere',
    entries: [
      { id: 'palette', keys: ['Ctrl', 'K'] },
      { id: 'help', keys: ['?'] },
      { id: 'leave', keys: ['Esc'] },
    ],
  },
  {
    id: 'ladder',
    entries: [
      { id: 'move', keys: ['↑', '↓'] },
      { id: 'open', keys: ['→', '←', 'Enter'] },
      { id: 'pick', keys: ['Space'] },
      { id: 'compare', keys: ['c'] },
      { id: 'pin', keys: ['p'] },
      { id: 'find', keys: ['/'] },
    ],
  },
  {
    id: 'compare',
    entries: [
      { id: 'change', keys: ['n', 'p'] },
      { id: 'step', keys: ['[', ']'] },
      { id: 'sass', keys: ['s'] },
      { id: 'chain', keys: ['c'] },
      { id: 'machine', keys: ['m'] },
      { id: 'memory', keys: ['y'] },
      { id: 'find', keys: ['/'] },
      { id: 'hot', keys: ['h'] },
    ],
  },
  {
    id: 'charts',
    entries: [
      { id: 'move', keys: ['↑', '↓', '←', '→'] },
      { id: 'open', keys: ['Enter'] },
      { id: 'pick', keys: ['Space'] },
      { id: 'compare', keys: ['c'] },
      { id: 'zoom', keys: ['+', '−', '0'] },
    ],
  },
  {
    id: 'matrix',
    entries: [
      { id: 'move', keys: ['↑', '↓', '←', '→'] },
      { id: 'page', keys: ['PgUp', 'PgDn'] },
      { id: 'ends', keys: ['Home', 'End'] },
      { id: 'sort', keys: ['Enter'] },
    ],
  },
] as const
