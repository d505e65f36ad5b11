/** Estimates the cost of profiling from the times in a session with the same ladder and size. */
import type { SessionSummary } from '../../../src-main/contract/index'
import type { ProfileLevel } from '../../../src-main/domain/metrics/metric-definition'
import { planProfile, type ProfilePlan } from '../../../src-main/domain/analysis/pass-plan'
import { sameSizes, type Sizes } from '../../../src-main/domain/task/problem'
import type { Session } from '../../../src-main/domain/session/session'
import { isImport, isOwnRun } from '../../../src-main/domain/session/session-summary'

/**
 * Returns the session on which the estimate is based: the newest session from this machine, or a
 * recording if there is none.
 */
export function timesFrom(
  sessions: readonly SessionSummary[],
  ladder: string,
  size: Sizes | null,
): SessionSummary | undefined {
  const usable = sessions.filter(
    (session) =>
      size !== null &&
      !session.damaged &&
      !isImport(session) &&
      session.ladder.id === ladder &&
      session.problem !== null &&
      sameSizes(session.problem.sizes, size),
  )
  return usable.find(isOwnRun) ?? usable[0]
}

export function estimate(
  session: Session,
  level: ProfileLevel,
  rungs: readonly string[],
  limitSeconds: number | null,
): ProfilePlan | null {
  if (level === 'none') return null
  return planProfile({
    level,
    computeCapability: session.device?.computeCapability ?? null,
    rungs: rungs.map((id) => {
      const { timing, launches, prepared } = session.rungs.find((rung) => rung.id === id) ?? {}
      return { id, medianMs: timing?.medianMs ?? null, kernels: launches?.length, prepared }
    }),
    ...(limitSeconds === null ? {} : { limitSeconds }),
  })
}
