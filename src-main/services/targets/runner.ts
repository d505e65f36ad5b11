import type { RunRequest } from '../../contract'
import type { FinishedRun, StartRunOptions } from './saved-run'

/**
 * Does what a request for one kind of target asks. Throws for what cannot be started; what goes wrong on the
 * way is in the result.
 */
export type Runner = (
  /** What the target names; null where it names nothing. */
  name: string | null,
  request: RunRequest,
  options: StartRunOptions,
) => Promise<FinishedRun>
