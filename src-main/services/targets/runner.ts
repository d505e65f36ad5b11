import type { RunRequest } from '../../contract'
import type { FinishedRun, StartRunOptions } from './saved-run'

/**
 * Executes a request for one kind of target. Throws if it cannot be started; later failures are in the result.
 */
export type Runner = (
  /** The name in the target; null if there is none. */
  name: string | null,
  request: RunRequest,
  options: StartRunOptions,
) => Promise<FinishedRun>
