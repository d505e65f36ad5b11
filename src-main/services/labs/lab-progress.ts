/** Computes a user's progress in a lab from the saved attempts. */
import { listAttempts } from '../../adapters/labs/attempt'
import type { LabFolder } from '../../adapters/labs/lab-folders'
import { attemptsDir, readProgress } from '../../adapters/labs/progress'
import type { Folders } from '../../adapters/machine/machine'
import type { AttemptSummary, LabStanding } from '../../contract/labs'
import { completesLab, outcomeTimeMs } from '../../domain/labs/outcome'
import { can } from '../../domain/targets/targets'
import { attemptSession } from '../sessions/attempt-sessions'
import { codeOf } from './recorded'

/** Returns the attempts at a lab, oldest first. `key` is the lab's ref. */
export async function attemptsAt(
  folders: Folders,
  key: string,
  lab: LabFolder,
): Promise<AttemptSummary[]> {
  const attempts = await listAttempts(attemptsDir(folders, key))
  return Promise.all(
    attempts.map(async ({ id, attempt: { outcome } }): Promise<AttemptSummary> => ({
      id,
      createdAt: outcome.createdAt,
      code: codeOf(lab, outcome.sourceHash),
      status: outcome.status,
      completes: completesLab(outcome),
      checksPassed: outcome.checks.filter(({ status }) => status === 'passed').length,
      checks: outcome.checks.length,
      target: outcome.target,
      timeMs: outcomeTimeMs(outcome),
      cacheState: outcome.cacheState ?? null,
      session: await attemptSession(folders, key, id, outcome),
    })),
  )
}

export const hasPassed = (attempts: readonly AttemptSummary[]): boolean =>
  attempts.some(({ completes }) => completes)

/** Returns a lab's progress for display in lists of labs. */
export async function standingIn(
  folders: Folders,
  key: string,
  lab: LabFolder,
): Promise<LabStanding> {
  const attempts = await attemptsAt(folders, key, lab)
  const { draft } = await readProgress(folders, key)
  const passes = attempts.filter(({ completes }) => completes)
  return {
    progress:
      passes.length > 0 ? 'passed' : attempts.length > 0 || draft !== null ? 'started' : 'new',
    emulatedOnly: passes.length > 0 && passes.every(({ target }) => !can(target).times),
    attempts: attempts.length,
    lastAt: attempts.at(-1)?.createdAt ?? null,
  }
}
