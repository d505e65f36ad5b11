/** Explains why a runner process exited early and whether a restart can help. */
import type { ProcessResult } from '../../adapters/tools/process'
import type { RunnerEvent, RunnerStage } from '../../adapters/tools/runner'
import { message, together, type Statement } from '../../domain/messages/message'
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import type { MeasureRequest } from './measurement'

/**
 * The runner's position, taken from its last `start` event. The rung is null while the runner
 * computes the reference.
 */
export type At = { rung: string | null; stage: RunnerStage | 'reference' } | null

export interface Attempt {
  result: ProcessResult
  /** The runner's position when it exited. */
  at: At
  error: Extract<RunnerEvent, { event: 'error' }> | null
}

/**
 * Throws an error if a restart cannot fix the failure. `begun` is true if a rung had already been
 * measured on this GPU.
 */
export function throwIfHopeless(
  { result, at, error }: Attempt,
  begun: boolean,
  { expected, idleMs }: MeasureRequest,
): void {
  if (result.outcome === 'not-found')
    throw new KernelLadderError(
      'failed',
      message('tools.runnerNotStarted', { text: result.stderr.trim() }),
    )
  const file = expected && 'shown' in expected ? expected.shown : ''
  if (error?.kind === 'reference')
    throw new KernelLadderError(
      'failed',
      message('tools.referenceFailed', { file, text: error.message }),
    )
  if (at?.stage === 'reference' && !error)
    throw new KernelLadderError(
      'failed',
      together(message('tools.referenceHangs', { file }), causeOf(result, 'reference', idleMs)),
    )
  if (result.outcome !== 'exited' || result.exitCode === 0 || !error) return
  if (error.kind === 'out-of-memory')
    throw begun
      ? missingError(error.message, message('tools.resetGpu'))
      : inputError(error.message, message('asked.smallerWith'))
  if (error.kind === 'file') throw inputError(error.message, message('asked.saveAnew'))
  if (error.kind === 'no-device')
    throw missingError(error.message, message(begun ? 'tools.resetGpu' : 'tools.checkWithSmi'))
  if (result.exitCode === 2)
    throw new KernelLadderError(
      'internal',
      message('tools.runnerRejected', { text: error.message }),
    )
}

const stages = ['load', 'verify', 'time', 'profile'] as const

export function causeOf(result: ProcessResult, stage: string, idleMs: number): Statement {
  const known = stages.find((name) => name === stage)
  const when = { stage: known ? message(`part.${known}`) : stage }
  switch (result.outcome) {
    case 'idle':
      return message('records.hung', { ...when, seconds: Math.round(idleMs / 1000) })
    case 'signalled':
      return message('records.crashed', { ...when, signal: result.signal ?? '' })
    case 'flooded':
      return message('records.flooded', when)
    default:
      return message('records.ended', {
        ...when,
        exitCode: result.exitCode ?? '',
        text: tail(result),
      })
  }
}

export const tail = (result: ProcessResult): string =>
  result.stderr.trim().split('\n').slice(-3).join(' ') || `exit code ${result.exitCode}`
