/** Selects the sessions that show one ladder over several problem sizes, for the UI and the command line. */
import { optionsWord, problemLabel } from '../domain/task/problem'
import type { SessionSummary } from './index'

type Sized = Pick<SessionSummary, 'problem'>
const volume = ({ problem }: Sized): number =>
  Object.values(problem?.sizes ?? {}).reduce((product, size) => product * size, 1)
/** By the product of the sizes. */
export const bySize = (a: Sized, b: Sized): number => volume(a) - volume(b)

const optionsOf = ({ problem }: Sized): string | null => problem && optionsWord(problem)

/** Readable sessions of the same ladder, GPU and options, smallest problem first. */
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

/** One per size: the session on screen for its own size, the newest for all others. */
export function firstChoice(candidates: readonly SessionSummary[], ref: string): string[] {
  const chosen = new Map<string, string>()
  for (const item of candidates) {
    if (!item.problem) continue
    const size = problemLabel(item.problem)
    if (!chosen.has(size) || item.ref === ref) chosen.set(size, item.ref)
  }
  return [...chosen.values()]
}
