/**
 * The session list: titles, search, and the default pair of rungs for a comparison of two sessions.
 */
import { t } from '../../ui/words'
import type { SessionSummary } from '../../../src-main/contract/index'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import { rungOf, type RungResult, type Session } from '../../../src-main/domain/session/session'
import { can, gpuOfTarget } from '../../../src-main/domain/targets/targets'
import { problemText } from '../../ui/format'

/**
 * Returns the user's name for the session. If the user gave no name, returns the session's ladder
 * and problem. For an unreadable folder, returns the folder's name.
 */
export function sessionTitle(item: SessionSummary): string {
  if (item.title !== null) return item.title
  if (item.damaged !== undefined) return item.name
  return item.problem
    ? `${item.ladder.title}, ${problemText(item.problem, item.unusual)}`
    : item.ladder.title
}

/**
 * Returns a function that returns the GPU that measured a session. If no GPU measured the session,
 * returns the GPU for which the session was emulated or built, or null if that GPU is unknown.
 */
export function useGpuWords(): (
  item: Pick<SessionSummary, 'deviceName' | 'target'>,
) => string | null {
  return ({ deviceName, target }) => {
    const gpu = target ? gpuOfTarget(target) : null
    return deviceName ?? (gpu && t(`targets.${target!.kind}.gpu`, { name: gpu.name }))
  }
}

/** Returns the sessions whose row or ref contains every word of the search, in any order. */
export function searchSessions(
  items: readonly SessionSummary[],
  search: string,
  shown: (item: SessionSummary) => readonly string[],
): SessionSummary[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return items.filter((item) => {
    const text = [
      sessionTitle(item),
      item.ref,
      item.ladder.id,
      item.ladder.title,
      item.deviceName ?? '',
      ...shown(item),
    ]
      .join('\n')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

const timed = (session: Session): RungResult[] =>
  session.rungs
    .filter((rung) => rung.timing && rung.id !== session.ladder.reference)
    .sort((a, b) => a.timing!.medianMs - b.timing!.medianMs)

/**
 * Returns the pair of rungs with which a comparison opens: the fastest rung timed in both sessions.
 * If no rung was timed in both sessions, returns each session's fastest timed rung, or its last
 * rung if no rung was timed. For programs, returns the kernel pair that changed most. Returns null
 * if a session has no rungs.
 */
export function pairAcross(a: Session, b: Session): [string, string] | null {
  if (![a, b].every(({ target }) => can(target).knowsRun)) {
    const weight = (pair: { change: number | null }): number => Math.abs(pair.change ?? 0)
    const [most] = compareSessions(a, b).pairs.sort((one, other) => weight(other) - weight(one))
    if (most) return [most.sideA.rung, most.sideB.rung]
  }
  const both = timed(b).find(({ id }) => rungOf(a, id)?.timing)
  if (both) return [both.id, both.id]
  const left = timed(a)[0] ?? a.rungs.at(-1)
  const right = timed(b)[0] ?? b.rungs.at(-1)
  return left && right ? [left.id, right.id] : null
}
