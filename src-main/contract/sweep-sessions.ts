/** Which sessions of a list show one ladder over several problem sizes, for a screen and for the command line. */
import { optionsWord, problemLabel } from '../domain/task/problem'
import type { SessionSummary } from './index'

type Sized = Pick<SessionSummary, 'problem'>
const volume = ({ problem }: Sized): number =>
  Object.values(problem?.sizes ?? {}).reduce((product, size) => product * size, 1)
/** By the product of the sizes. */
export const bySize = (a: Sized, b: Sized): number => volume(a) - volume(b)

const optionsOf = ({ problem }: Sized): string | null => problem && optionsWord(problem)

/** Sessions of the same ladder, GPU and options that can be read, the smallest problem first. */
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
        optionsOf(item) === optionsOf(of),
    )
    .sort((a, b) => bySize(a, b) || b.createdAt.localeCompare(a.createdAt))
}

/** One a size: the session on screen for its own, the newest for each other. */
export function firstChoice(candidates: readonly SessionSummary[], ref: string): string[] {
  const chosen = new Map<string, string>()
  for (const item of candidates) {
    if (!item.problem) continue
    const size = problemLabel(item.problem)
    if (!chosen.has(size) || item.ref === ref) chosen.set(size, item.ref)
  }
  return [...chosen.values()]
}
