/**
 * Verifies and times rungs in the runner, and supervises it: a rung that hangs or crashes costs only
 * itself, the runner is started again with the rest.
 */
import type { ProcessResult } from '../../adapters/tools/process'
import {
  measureArgs,
  runRunner,
  type BuiltRung,
  type RunnerEvent,
  type RunnerStage,
} from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { english, message } from '../../domain/messages/message'
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import { caseOf, gflops, type Problem } from '../../domain/task/problem'
import { outputsOf, type Task } from '../../domain/task/task'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { Launch, Timing, Verify } from '../../domain/session/session'

export interface Measured {
  verify: Verify | null
  timing: Timing | null
  /** What it launches; absent where the runner could not see it. */
  launches?: Launch[]
  /** Set when it did not come to a timing. */
  trouble?: { status: 'failed' | 'unsupported'; reason: string }
}

export interface MeasureRequest {
  toolbox: Toolbox
  runner: string
  task: Task
  problem: Problem
  /** The task's reference, built; null in a replay, whose answers are known. */
  referenceLibrary: string | null
  /** Begins the names that the raw output is kept under; `runner/measure` unless given. */
  key?: `runner/${string}`
  /** The most a rung is sampled for; the runner's own limit unless given. */
  maxSeconds?: number
  /** In the order to be measured. */
  rungs: readonly BuiltRung[]
  /** One of `rungs`. */
  reference: string | null
  seed: number
  flushL2: boolean
  /** Milliseconds without news from the runner after which a rung counts as hung. */
  idleMs: number
  signal: AbortSignal
  onStart: (rung: string, stage: RunnerStage) => void
  /** The rung's result was checked and is right. */
  onVerified: (rung: string) => void
  onMeasured: (rung: string, measured: Measured) => void
  /** What the GPU reaches at best, measured once, before the first rung. */
  onCeilings: (ceilings: Ceilings) => void
}

interface Attempt {
  result: ProcessResult
  /** What the runner was at when it ended. */
  at: { rung: string | null; stage: string } | null
  error: Extract<RunnerEvent, { event: 'error' }> | null
}

/** What is known of each rung; rungs that were not reached before a cancel are absent. */
export async function measure(request: MeasureRequest): Promise<Map<string, Measured>> {
  const { toolbox, runner, task, problem, signal } = request
  const done = new Map<string, Measured>()
  const settle = (rung: string, measured: Measured): void => {
    if (done.has(rung)) return
    done.set(rung, measured)
    request.onMeasured(rung, measured)
  }
  const fail = (rung: string, reason: string, verify: Verify | null): void =>
    settle(rung, { verify, timing: null, trouble: { status: 'failed', reason } })

  for (let attemptNumber = 1; !signal.aborted; attemptNumber += 1) {
    const reference = request.rungs.find(({ id }) => id === request.reference)
    const referenceUsable = reference !== undefined && done.get(reference.id)?.trouble === undefined
    const open = request.rungs.filter(({ id }) => !done.has(id))
    if (open.length === 0) break
    // A rung that is a reference must be loaded in each attempt, also when its own time is known.
    const loaded = referenceUsable && !open.includes(reference) ? [reference, ...open] : open
    const verified = new Map<string, Verify>()

    const attempt = await runOnce(
      toolbox,
      {
        key: `${request.key ?? 'runner/measure'}-${attemptNumber}`,
        file: runner,
        args: measureArgs({
          task,
          problem,
          referenceLibrary: request.referenceLibrary,
          seed: request.seed,
          flushL2: request.flushL2,
          ceilings: attemptNumber === 1 && request.key === undefined,
          ...(request.maxSeconds === undefined ? {} : { maxSeconds: request.maxSeconds }),
          reference: referenceUsable ? reference.id : null,
          rungs: loaded,
        }),
        idleMs: request.idleMs,
        signal,
      },
      (event) => {
        switch (event.event) {
          case 'start':
            if (event.rung !== null && event.stage !== 'reference')
              request.onStart(event.rung, event.stage)
            break
          case 'verify': {
            const verify = toVerify(event, task)
            verified.set(event.rung, verify)
            if (verify.passed) request.onVerified(event.rung)
            else settle(event.rung, { verify, timing: null })
            break
          }
          case 'timing':
            settle(event.rung, {
              verify: verified.get(event.rung) ?? null,
              timing: toTiming(event, request),
            })
            break
          // It comes behind the rung's timing, so that a mishap in looking never costs the time.
          case 'launches': {
            const measured = done.get(event.rung)
            if (measured && event.kernels.length > 0)
              measured.launches = event.kernels.map(toLaunch)
            break
          }
          case 'ceilings': {
            const { event: _event, ...ceilings } = event
            request.onCeilings(ceilings)
            break
          }
          case 'unsupported':
            settle(event.rung, {
              verify: null,
              timing: null,
              trouble: { status: 'unsupported', reason: event.reason },
            })
            break
          case 'failed':
            fail(event.rung, event.reason, verified.get(event.rung) ?? null)
            break
          default:
            break
        }
      },
    )
    if (attempt.result.outcome === 'cancelled') break
    throwIfHopeless(attempt, request)
    const stillOpen = request.rungs.filter(({ id }) => !done.has(id))
    if (stillOpen.length === 0) break
    const culprit = attempt.at?.rung ?? null
    if (culprit !== null && !done.has(culprit))
      fail(
        culprit,
        causeOf(attempt.result, attempt.at?.stage ?? '', request.idleMs),
        verified.get(culprit) ?? null,
      )
    else if (stillOpen.length === open.length)
      throw new KernelLadderError(
        'failed',
        `The runner ended before it reached a rung: ${tail(attempt.result)}`,
        'Run `kernel-ladder doctor`; the raw output is kept with the session.',
      )
  }
  return done
}

async function runOnce(
  toolbox: Toolbox,
  call: Parameters<typeof runRunner>[1],
  onEvent: (event: RunnerEvent) => void,
): Promise<Attempt> {
  let at: Attempt['at'] = null
  let error: Attempt['error'] = null
  const result = await runRunner(toolbox, call, (event) => {
    if (event.event === 'start') at = { rung: event.rung, stage: event.stage }
    if (event.event === 'error') error = event
    onEvent(event)
  })
  return { result, at, error }
}

/** Failures that no restart can mend. */
function throwIfHopeless({ result, at, error }: Attempt, { task, idleMs }: MeasureRequest): void {
  if (result.outcome === 'not-found')
    throw new KernelLadderError(
      'failed',
      `The runner could not be started: ${result.stderr}`.trim(),
    )
  const reference = `${task.id}/${task.reference}`
  if (error?.kind === 'reference')
    throw new KernelLadderError('failed', `The reference ${reference} failed: ${error.message}`)
  if (at?.stage === 'reference' && !error)
    throw new KernelLadderError(
      'failed',
      `The reference ${reference} does not come to its end. ${causeOf(result, 'reference', idleMs)}`,
    )
  if (result.outcome !== 'exited' || !error) return
  if (error.kind === 'out-of-memory')
    throw inputError(error.message, 'Choose a smaller size with --size or --at.')
  if (error.kind === 'no-device')
    throw missingError(error.message, 'Check the driver with `nvidia-smi`.')
  if (result.exitCode === 2)
    throw new KernelLadderError('internal', `The runner refused its arguments: ${error.message}`)
}

const stages = ['load', 'verify', 'time', 'profile'] as const

function causeOf(result: ProcessResult, stage: string, idleMs: number): string {
  const known = stages.find((name) => name === stage)
  const when = { stage: known ? message(`part.${known}`) : stage }
  switch (result.outcome) {
    case 'idle':
      return english('records.hung', { ...when, seconds: Math.round(idleMs / 1000) })
    case 'signalled':
      return english('records.crashed', { ...when, signal: result.signal ?? '' })
    case 'flooded':
      return english('records.flooded', when)
    default:
      return english('records.ended', {
        ...when,
        exitCode: result.exitCode ?? '',
        text: tail(result),
      })
  }
}

const tail = (result: ProcessResult): string =>
  result.stderr.trim().split('\n').slice(-3).join(' ') || `exit code ${result.exitCode}`

type LaunchedKernel = Extract<RunnerEvent, { event: 'launches' }>['kernels'][number]

const toLaunch = ({ name, grid, block, ...resources }: LaunchedKernel): Launch => ({
  name,
  grid,
  block,
  resources: { ...resources, barriers: null, carveOutBytes: null },
})

type TimingEvent = Extract<RunnerEvent, { event: 'timing' }>

type VerifyEvent = Extract<RunnerEvent, { event: 'verify' }>

/** A runner that names no buffer knew of one output. */
function toVerify(event: VerifyEvent, task: Task): Verify {
  const { event: _event, rung: _rung, worstToleranceRatio: _ratio, ...verify } = event
  const { outOfBoundsBuffers, firstMismatch, ...rest } = verify
  const outputs = outputsOf(task)
  return {
    ...rest,
    firstMismatch: firstMismatch && {
      ...firstMismatch,
      buffer: firstMismatch.buffer ?? outputs[0] ?? '',
    },
    outOfBounds: rest.outOfBounds && outOfBoundsBuffers.length === 0 ? outputs : outOfBoundsBuffers,
  }
}

function toTiming(event: TimingEvent, request: MeasureRequest): Timing {
  const { task, problem, rungs } = request
  const rung = rungs.find(({ id }) => id === event.rung)
  const reference = event.rung === request.reference ? event.medianMs : event.referenceMedianMs
  return {
    medianMs: event.medianMs,
    spread: event.spread,
    samples: event.samplesMs.length,
    samplesMs: event.samplesMs,
    settled: event.settled,
    gflops: gflops(task, caseOf(problem, rung), event.medianMs),
    ratioToReference: reference === null ? null : reference / event.medianMs,
    referenceMedianMs: reference,
    smClockBeforeMHz: event.smClockBeforeMHz,
    smClockAfterMHz: event.smClockAfterMHz,
  }
}
