/** The rungs pinned to the top of each session's ladder, remembered in this browser. */
import { computed } from 'vue'
import { keptText } from '../../ui/preference'

/** Sessions whose pins are kept; the one that was pinned in longest ago goes first. */
const mostSessions = 50

type Pins = readonly (readonly [session: string, rungs: readonly string[]])[]

/** Someone else may have written it. */
export function readPins(text: string): Pins {
  try {
    const value: unknown = JSON.parse(text)
    if (!Array.isArray(value)) return []
    return value.filter(
      (entry): entry is [string, string[]] =>
        Array.isArray(entry) &&
        typeof entry[0] === 'string' &&
        Array.isArray(entry[1]) &&
        entry[1].every((rung) => typeof rung === 'string'),
    )
  } catch {
    return []
  }
}

export function writePins(pins: Pins, session: string, rungs: readonly string[]): string {
  const others = pins.filter(([ref]) => ref !== session)
  const now: Pins = rungs.length > 0 ? [...others, [session, rungs]] : others
  return JSON.stringify(now.slice(-mostSessions))
}

export function usePins(session: () => string) {
  const kept = keptText('pins')
  return computed<readonly string[]>({
    get: () => readPins(kept.value).find(([ref]) => ref === session())?.[1] ?? [],
    set: (rungs) => (kept.value = writePins(readPins(kept.value), session(), rungs)),
  })
}
