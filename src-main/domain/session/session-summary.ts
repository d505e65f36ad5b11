/** A session's entry in a list; the same for a folder and a report. */
import { z } from 'zod'
import { gpuOfTarget, kindOf, Target } from '../targets/targets'
import { CacheState, type Session } from './session'
import { Problem, Scalars, unusualScalars } from '../task/problem'
import { Statement } from '../messages/message'
import { ProfileLevel } from '../metrics/metric-definition'
import { SessionRef } from './session-ref'

export const SessionSummary = z.object({
  ref: SessionRef,
  kind: z.enum(['live', 'recorded', 'imported']),
  name: z.string(),
  /** The user's name for it; null if none was given. */
  title: z.string().nullable(),
  createdAt: z.string(),
  ladder: z.object({ id: z.string(), title: z.string() }),
  /** null if unknown, as for counters imported from ncu. */
  problem: Problem.nullable(),
  /** Scalars of the problem that differ from the task's; absent if none do. */
  unusual: Scalars.optional(),
  deviceName: z.string().nullable(),
  /** Set for a session without a device that is for a GPU of the built-in table. */
  target: Target.optional(),
  profile: ProfileLevel,
  /** L2 contents when its launches were timed; absent if nothing was timed. */
  cacheState: CacheState.optional(),
  rungCount: z.number().int(),
  /** Set if the folder cannot be read; the other fields are then guessed from its name. */
  damaged: Statement.optional(),
})

export type SessionSummary = z.infer<typeof SessionSummary>

/** Returns the section of the list that a session belongs to. */
export const listedKind = ({ target }: Session): SessionSummary['kind'] => kindOf(target).listed

type Listed = Pick<SessionSummary, 'kind'>

/** Whether it was made by a run on this machine. */
export const isOwnRun = ({ kind }: Listed): boolean => kind === 'live'

/** Whether it ships with the program. */
export const isRecording = ({ kind }: Listed): boolean => kind === 'recorded'

/** Whether it came from a file: an ncu report or one of ours. */
export const isImport = ({ kind }: Listed): boolean => kind === 'imported'

export const summaryOf = (
  ref: string,
  kind: SessionSummary['kind'],
  name: string,
  session: Session,
  title: string | null = null,
): SessionSummary => {
  const unusual = session.problem && unusualScalars(session.ladder.task, session.problem)
  return {
    ref,
    kind,
    name,
    title,
    createdAt: session.createdAt,
    ladder: { id: session.ladder.id, title: session.ladder.title },
    problem: session.problem,
    ...(unusual && Object.keys(unusual).length > 0 ? { unusual } : {}),
    deviceName: session.device?.name ?? null,
    ...(gpuOfTarget(session.target) ? { target: session.target } : {}),
    profile: session.settings.profile,
    ...(session.settings.cacheState ? { cacheState: session.settings.cacheState } : {}),
    rungCount: session.rungs.length,
  }
}
