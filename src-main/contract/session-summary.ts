/** A session's entry in a list, the same from a folder and from a report. */
import { kindOf } from '../domain/target/targets'
import type { Session } from '../domain/session/session'
import type { SessionSummary } from './index'

/** The section of the list that a session belongs to. */
export const listedKind = ({ target }: Session): SessionSummary['kind'] => kindOf(target).listed

type Listed = Pick<SessionSummary, 'kind'>

/** Whether it was made by a run on this machine. */
export const isOwnRun = ({ kind }: Listed): boolean => kind === 'live'
/** Whether it ships with the program. */
export const isRecording = ({ kind }: Listed): boolean => kind === 'recorded'
/** Whether it came from a file: ncu's, or a report. */
export const isImport = ({ kind }: Listed): boolean => kind === 'imported'

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
