/** The line a session has in a list, the same from a folder and from a report. */
import type { Session } from '../domain/session/session'
import type { SessionSummary } from './index'

/** What was built here without a GPU is listed among the runs of this machine. */
export const listedKind = ({ target }: Session): SessionSummary['kind'] =>
  target.kind === 'static' ? 'live' : target.kind

export const summaryOf = (
  ref: string,
  kind: SessionSummary['kind'],
  name: string,
  session: Session,
  title: string | null = null,
): SessionSummary => ({
  ref,
  kind,
  name,
  title,
  createdAt: session.createdAt,
  ladder: { id: session.ladder.id, title: session.ladder.title },
  problem: session.problem,
  deviceName: session.device?.name ?? null,
  profile: session.settings.profile,
  rungCount: session.rungs.length,
})
