/**
 * A session's entry in a list. Sessions in folders and sessions in reports have the same kind of
 * entry.
 */
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
  /** The title that the user gave the session; null if the session has no title. */
  title: z.string().nullable(),
  createdAt: z.string(),
  ladder: z.object({ id: z.string(), title: z.string() }),
  /** The problem; null if unknown, as for counters imported from ncu. */
  problem: Problem.nullable(),
  /** Scalars that differ from the task's defaults; absent if no scalar differs. */
  unusual: Scalars.optional(),
  deviceName: z.string().nullable(),
  /**
   * The target. Present only for sessions that have no device and whose target is a built-in GPU.
   */
  target: Target.optional(),
  profile: ProfileLevel,
  /** L2 state when the launches were timed; absent if nothing was timed. */
  cacheState: CacheState.optional(),
  rungCount: z.number().int(),
  /**
   * Reason why the folder cannot be read. If this field is set, the other fields are derived from
   * the folder name.
   */
  damaged: Statement.optional(),
})

export type SessionSummary = z.infer<typeof SessionSummary>

/** Returns the section of the session list for this session. */
export const listedKind = ({ target }: Session): SessionSummary['kind'] => kindOf(target).listed

type Listed = Pick<SessionSummary, 'kind'>

/** Returns whether a run on this machine created the session. */
export const isOwnRun = ({ kind }: Listed): boolean => kind === 'live'

/** Returns whether the session is built into the program. */
export const isRecording = ({ kind }: Listed): boolean => kind === 'recorded'

/**
 * Returns whether the session was imported from a file: an ncu report or a Kernel Ladder report.
 */
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
