/**
 * Verifies and times rungs in the runner, and supervises the runner.
 *
 * If a rung hangs or crashes, the runner is restarted for the remaining rungs. If a restart is
 * impossible, for example because the GPU is gone, the remaining rungs are skipped. Results of
 * finished rungs are kept.
 */
import { type BuiltRung, type Expected } from '../../adapters/tools/runner'
import { message } from '../../domain/messages/message'
import { toErrorShape, type ErrorShape } from '../../domain/errors'
import type { Measured } from './measured'
import { attempt } from './runner-attempt'
import type { TaskRunner, Measurement, MeasureEvent, MeasureRequest } from './measurement'

export interface MeasureOutcome {
  /** Results by rung. Omits rungs that were not reached before a cancellation. */
  rungs: Map<string, Measured>
  /** Reason that the runner stopped early, if at least one rung had finished. */
  halted: ErrorShape | null
}

/** Measures the rungs. An exception from `tell` ends the measurement. */
export async function measure(
  runner: TaskRunner,
  what: Measurement,
  tell: (event: MeasureEvent) => void = () => undefined,
): Promise<MeasureOutcome> {
  const request: MeasureRequest = { ...runner, ...what, tell }
  const { signal } = runner
  const done = new Map<string, Measured>()
  const settle = (rung: string, measured: Measured): void => {
    if (done.has(rung)) return
    done.set(rung, measured)
    tell({ type: 'measured', rung, measured })
  }
  const openRungs = (): BuiltRung[] => request.rungs.filter(({ id }) => !done.has(id))

  try {
    for (let number = 1; !signal.aborted && openRungs().length > 0; number += 1) {
      await attempt(request, number, done, settle)
      const failed = failedTrust(request.expected, done)
      if (failed !== null)
        for (const { id } of openRungs())
          settle(id, {
            verify: null,
            timing: null,
            trouble: {
              status: 'failed',
              reason: message('records.trustedFailed', { rung: failed }),
            },
          })
    }
    return { rungs: done, halted: null }
  } catch (error) {
    // Before the first rung finishes, there are no results to keep.
    if (done.size === 0) throw error
    const halted = toErrorShape(error)
    const reason = message('records.runnerLost', { why: halted.message })
    for (const { id } of openRungs())
      settle(id, { verify: null, timing: null, trouble: { status: 'not-run', reason } })
    return { rungs: done, halted }
  }
}

/** Returns the trusted rung if it failed, because the other rungs cannot be verified without it. */
function failedTrust(
  expected: Expected | null,
  done: ReadonlyMap<string, Measured>,
): string | null {
  if (expected === null || !('rung' in expected)) return null
  return done.get(expected.rung)?.trouble ? expected.rung : null
}
