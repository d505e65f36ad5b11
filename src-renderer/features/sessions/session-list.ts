/** The list of sessions: what each is called, which a search finds, and the pair that two of them open with. */
import type { SessionSummary } from '../../../src-main/contract'
import { rungOf, type RungResult, type Session } from '../../../src-main/domain/session/session'
import { problemText } from '../../ui/format'

/** The reader's own name, else the ladder and the problem; a folder that cannot be read has its name only. */
export function sessionTitle(item: SessionSummary): string {
  if (item.title !== null) return item.title
  if (item.damaged !== undefined) return item.name
  return item.problem ? `${item.ladder.title}, ${problemText(item.problem)}` : item.ladder.title
}

/** Every word of the search, in any order and anywhere in what a row shows or is named by. */
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
 * Rung a of one session and rung b of another to open a comparison with: the fastest rung that both
 * timed, else each one's fastest, else each one's last; null where one has no rungs.
 */
export function pairAcross(a: Session, b: Session): [string, string] | null {
  const both = timed(b).find(({ id }) => rungOf(a, id)?.timing)
  if (both) return [both.id, both.id]
  const left = timed(a)[0] ?? a.rungs.at(-1)
  const right = timed(b)[0] ?? b.rungs.at(-1)
  return left && right ? [left.id, right.id] : null
}
