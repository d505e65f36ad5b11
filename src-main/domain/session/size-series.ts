/** Selects sessions of one ladder at several problem sizes. */
import { named, optionsWord, problemLabel } from '../task/problem'
import { SessionSummary } from './session-summary'

type Sized = Pick<SessionSummary, 'problem'>

const volume = ({ problem }: Sized): number =>
  Object.values(problem?.sizes ?? {}).reduce((product, size) => product * size, 1)

/** Compares two sessions by the product of their sizes. */
export const bySize = (a: Sized, b: Sized): number => volume(a) - volume(b)

/** Returns the parts of a problem that must be equal: options and scalars. */
const restOf = ({ problem }: Sized): string | null =>
  problem && `${optionsWord(problem)} ${named(problem.scalars)}`

/**
 * Returns readable sessions with the same ladder, GPU, options and scalars, smallest problem first.
 */
export function sweepCandidates(
  list: readonly SessionSummary[],
  of: SessionSummary,
): SessionSummary[] {
  return list
    .filter(
      (item) =>
        item.damaged === undefined &&
        item.problem !== null &&
        item.ladder.id === of.ladder.id &&
        item.deviceName === of.deviceName &&
        restOf(item) === restOf(of),
    )
    .sort((a, b) => bySize(a, b) || b.createdAt.localeCompare(a.createdAt))
}

/**
 * Returns one session per size. For the size of the displayed session, returns that session. For
 * other sizes, prefers sessions with the same L2 state, and then newer sessions.
 */
export function firstChoice(candidates: readonly SessionSummary[], ref: string): string[] {
  const own = candidates.find((item) => item.ref === ref)
  const isRanked = ({ cacheState }: SessionSummary): boolean => cacheState === own?.cacheState
  const chosen = new Map<string, string>()
  for (const item of [...candidates].sort((a, b) => Number(isRanked(b)) - Number(isRanked(a)))) {
    if (!item.problem) continue
    const size = problemLabel(item.problem)
    if (!chosen.has(size) || item.ref === ref) chosen.set(size, item.ref)
  }
  return [...chosen.values()]
}
