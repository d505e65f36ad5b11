/**
 * Verifies and times rungs in the runner, and supervises it: a rung that hangs or crashes costs only itself, and the
 * runner is restarted with the rest. If that is impossible, for example because the GPU is gone, the remaining
 * rungs are not run and the results of the others are kept.
 */
import type { ProcessResult } from '../../adapters/tools/process'
import {
  measureArgs,
  runRunner,
  type BuiltRung,
  type Expected,
  type RunnerEvent,
  type RunnerStage,
} from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { message, together, type Statement } from '../../domain/messages/message'
import {
  inputError,
  KernelLadderError,
  missingError,
  toErrorShape,
  type ErrorShape,
} from '../../domain/errors'
import { caseOf, gflops, type Problem } from '../../domain/task/problem'
import { outputsOf, type Task } from '../../domain/task/task'
import type { Ceilings } from '../../domain/gpu/ceilings'
import { reasonsIn, type GpuState } from '../../domain/gpu/gpu'
import type {
  BurstTiming,
  CacheState,
  Launch,
  Prepared,
  SustainedTiming,
  Timing,
  Verify,
} from '../../domain/session/session'

export interface Measured {
  verify: Verify | null
  timing: Timing | null
  /** Its launches; absent if the runner could not see them. */
  launches?: Launch[]
  /** What it compiled as it was loaded, such as a script's kernels. */
  prepared?: Prepared
  /** What loading took before that, such as starting Python and importing; seconds. Means nothing in a replay. */
  loadSeconds?: number
  /** Set if it got no timing. */
  trouble?: { status: 'failed' | 'unsupported' | 'not-run'; reason: Statement }
}

export interface MeasureOutcome {
  /** Results by rung; rungs that were not reached before a cancellation are absent. */
  rungs: Map<string, Measured>
  /** Why the runner could not continue, if some rungs had finished before. */
  halted: ErrorShape | null
}

export interface MeasureRequest {
  toolbox: Toolbox
  runner: string
  task: Task
  problem: Problem
  /** null in a replay, whose answers are known. */
  expected: Expected | null
  taskFolder: string | null
  /** Key prefix of the raw output; `runner/measure` by default. */
  key?: `runner/${string}`
  /** Maximum sampling time per rung; the runner's default unless given. */
  maxSeconds?: number
  /** In measuring order. */
  rungs: readonly BuiltRung[]
  /** One of `rungs`. */
  reference: string | null
  seed: number
  /** What L2 is to hold; in a replay of an older recording, what it held. */
  cacheState: CacheState
  /** Time bursts and sustained launches too. */
  bursts?: boolean
  sustained?: boolean
  /** Milliseconds without an event from the runner after which a rung counts as hung. */
  idleMs: number
  signal: AbortSignal
  onStart: (rung: string, stage: RunnerStage) => void
  /** Called when a rung's result was verified as correct. */
  onVerified: (rung: string) => void
  onMeasured: (rung: string, measured: Measured) => void
  /** Called with the GPU's ceilings, measured once before the first rung. */
  onCeilings: (ceilings: Ceilings) => void
  /** Called when an event was ignored because the runner could not have sent it during this rung. */
  onOutOfTurn: (rung: string) => void
}

/** Enough for a median; each takes its rest. */
const burstsOfRung = 3

/** Three seconds with the second of warm-up: clocks and temperature have settled by then. */
const sustainedSeconds = 2

/** The runner's position: its last `start`; no rung while it computes the reference. */
type At = { rung: string | null; stage: RunnerStage | 'reference' } | null

interface Attempt {
  result: ProcessResult
  /** The runner's position when it ended. */
  at: At
  error: Extract<RunnerEvent, { event: 'error' }> | null
}

export async function measure(request: MeasureRequest): Promise<MeasureOutcome> {
  const { signal } = request
  const done = new Map<string, Measured>()
  const settle = (rung: string, measured: Measured): void => {
    if (done.has(rung)) return
    done.set(rung, measured)
    request.onMeasured(rung, measured)
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
    // Before the first rung has finished, there is nothing to keep.
    if (done.size === 0) throw error
    const halted = toErrorShape(error)
    const reason = message('records.runnerLost', { why: halted.message })
    for (const { id } of openRungs())
      settle(id, { verify: null, timing: null, trouble: { status: 'not-run', reason } })
    return { rungs: done, halted }
  }
}

/** The failed trusted rung, after which there is nothing left to check against. */
function failedTrust(
  expected: Expected | null,
  done: ReadonlyMap<string, Measured>,
): string | null {
  if (expected === null || !('rung' in expected)) return null
  return done.get(expected.rung)?.trouble ? expected.rung : null
}

/** One runner process over the open rungs. Throws for errors that a restart cannot fix. */
async function attempt(
  request: MeasureRequest,
  number: number,
  done: ReadonlyMap<string, Measured>,
  settled: (rung: string, measured: Measured) => void,
): Promise<void> {
  const { task, problem, signal } = request
  const reference = request.rungs.find(({ id }) => id === request.reference)
  const referenceUsable = reference !== undefined && done.get(reference.id)?.trouble === undefined
  const open = request.rungs.filter(({ id }) => !done.has(id))
  // The reference and the trusted rung are loaded in each attempt, even if their own results are known.
  const { expected } = request
  const trusted = expected !== null && 'rung' in expected ? expected.rung : null
  const loaded = request.rungs.filter(
    (rung) => open.includes(rung) || (referenceUsable && rung === reference) || rung.id === trusted,
  )
  const verified = new Map<string, Verify>()
  const prepared = new Map<string, Pick<Measured, 'prepared' | 'loadSeconds'>>()
  let loadingSince = 0
  const settle = (rung: string, measured: Measured): void =>
    settled(rung, { ...measured, ...prepared.get(rung) })
  const fail = (rung: string, reason: Statement): void =>
    settle(rung, {
      verify: verified.get(rung) ?? null,
      timing: null,
      trouble: { status: 'failed', reason },
    })
  const ceilings = number === 1 && request.key === undefined

  /** A rung's code shares the runner's process, so events that it may have forged do not count. */
  const isInTurn = (event: RunnerEvent, at: At): boolean => {
    switch (event.event) {
      case 'start':
        return event.stage === 'reference' || loaded.some(({ id }) => id === event.rung)
      case 'prepared':
        return at?.rung === event.rung && at.stage === 'load'
      case 'verify':
        return at?.rung === event.rung && at.stage === 'verify'
      case 'timing':
        return (
          at?.rung === event.rung &&
          at.stage === 'time' &&
          verified.get(event.rung)?.passed === true
        )
      case 'launches':
      case 'burst':
      case 'sustained':
        return at?.rung === event.rung && at.stage === 'time' && done.has(event.rung)
      case 'unsupported':
        return at?.rung === event.rung
      case 'failed':
        // The reference is launched alternately with the rung being timed.
        return at?.rung === event.rung || (at !== null && event.rung === reference?.id)
      case 'ceilings':
        return ceilings && at === null
      default:
        return true
    }
  }

  const ended = await runOnce(
    request.toolbox,
    {
      key: `${request.key ?? 'runner/measure'}-${number}`,
      file: request.runner,
      args: measureArgs({
        task,
        problem,
        ownerPid: request.toolbox.ownerPid,
        expected: request.expected,
        taskFolder: request.taskFolder,
        seed: request.seed,
        cacheState: request.cacheState,
        ceilings,
        ...(request.bursts ? { bursts: burstsOfRung } : {}),
        ...(request.sustained ? { sustainedSeconds } : {}),
        ...(request.maxSeconds === undefined ? {} : { maxSeconds: request.maxSeconds }),
        reference: referenceUsable ? reference.id : null,
        rungs: loaded,
      }),
      idleMs: request.idleMs,
      signal,
    },
    (event, at) => {
      if (!isInTurn(event, at)) {
        if (at?.rung != null) request.onOutOfTurn(at.rung)
        return false
      }
      switch (event.event) {
        case 'start':
          if (event.stage === 'load') loadingSince = performance.now()
          if (event.rung !== null && event.stage !== 'reference')
            request.onStart(event.rung, event.stage)
          break
        case 'prepared':
          prepared.set(event.rung, {
            prepared: { seconds: event.seconds, with: event.with },
            loadSeconds: Math.max(0, (performance.now() - loadingSince) / 1000 - event.seconds),
          })
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
        // It comes after the rung's timing, so that a failure in it never costs the timing.
        case 'launches': {
          const measured = done.get(event.rung)
          if (measured && event.kernels.length > 0) measured.launches = event.kernels.map(toLaunch)
          break
        }
        case 'burst': {
          const timing = done.get(event.rung)?.timing
          if (timing) timing.burst = toBurst(event, request)
          break
        }
        case 'sustained': {
          const timing = done.get(event.rung)?.timing
          const beside = done.get(request.reference ?? '')?.timing?.sustained ?? null
          if (timing) timing.sustained = toSustained(event, beside, request)
          break
        }
        case 'ceilings': {
          const { event: _event, ...reached } = event
          request.onCeilings(reached)
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
          fail(event.rung, event.reason)
          break
        default:
          break
      }
      return true
    },
  )
  if (ended.result.outcome === 'cancelled') return
  throwIfHopeless(ended, done.size > 0, request)
  const stillOpen = open.filter(({ id }) => !done.has(id))
  if (stillOpen.length === 0) return
  const culprit = ended.at?.rung ?? null
  if (culprit !== null && !done.has(culprit))
    fail(culprit, causeOf(ended.result, ended.at?.stage ?? '', request.idleMs))
  else if (stillOpen.length === open.length)
    throw new KernelLadderError(
      'failed',
      ended.result.outcome === 'idle'
        ? message('tools.runnerSilent', { seconds: Math.round(request.idleMs / 1000) })
        : message('tools.runnerEnded', { text: ended.error?.message ?? tail(ended.result) }),
      done.size > 0 ? message('tools.resetGpu') : message('tools.seeDoctor'),
    )
}

/** `onEvent` receives the runner's position and returns whether the event counts. */
async function runOnce(
  toolbox: Toolbox,
  call: Parameters<typeof runRunner>[1],
  onEvent: (event: RunnerEvent, at: At) => boolean,
): Promise<Attempt> {
  let at: Attempt['at'] = null
  let error: Attempt['error'] = null
  const result = await runRunner(toolbox, call, (event) => {
    if (!onEvent(event, at)) return
    if (event.event === 'start') at = { rung: event.rung, stage: event.stage }
    if (event.event === 'error') error = event
  })
  return { result, at, error }
}

/** Failures that a restart cannot fix. `begun`: a rung had already been measured on this GPU. */
function throwIfHopeless(
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

function causeOf(result: ProcessResult, stage: string, idleMs: number): Statement {
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
type BurstEvent = Extract<RunnerEvent, { event: 'burst' }>
type SustainedEvent = Extract<RunnerEvent, { event: 'sustained' }>

type VerifyEvent = Extract<RunnerEvent, { event: 'verify' }>

/** Older runners name no buffer and have a single output. */
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
    cacheState: event.cacheState ?? request.cacheState,
    medianMs: event.medianMs,
    spread: event.spread,
    samples: event.samplesMs.length,
    samplesMs: event.samplesMs,
    settled: event.settled,
    gflops: gflops(task, caseOf(problem, rung), event.medianMs),
    ratioToReference: reference === null ? null : reference / event.medianMs,
    referenceMedianMs: reference,
    // Runners of older recordings knew none of these.
    ...(event.late === undefined ? {} : { late: event.late }),
    ...(event.includesHost === undefined ? {} : { includesHost: event.includesHost }),
    ...(event.emptyMs === undefined ? {} : { emptyMs: event.emptyMs }),
    ...(event.busyMs === undefined ? {} : { gpuMs: event.busyMs }),
    ...(event.clockMHz === undefined ? {} : { clockMHz: event.clockMHz }),
    ...(event.referenceClockMHz === undefined
      ? {}
      : { referenceClockMHz: event.referenceClockMHz }),
    smClockBeforeMHz: event.smClockBeforeMHz,
    smClockAfterMHz: event.smClockAfterMHz,
    ...(event.clockReasons === undefined ? {} : { gpu: toGpuState(event, event.clockReasons) }),
  }
}

function toBurst(
  { event: _event, rung: id, referenceSamplesMs: _samples, ...burst }: BurstEvent,
  request: MeasureRequest,
): BurstTiming {
  const { task, problem, rungs, reference: referenceId } = request
  const reference = id === referenceId ? burst.medianMs : burst.referenceMedianMs
  const rung = rungs.find((one) => one.id === id)
  return {
    ...burst,
    cacheState: request.cacheState === 'cold-dirty' ? 'unknown' : 'warm',
    gflops: gflops(task, caseOf(problem, rung), burst.medianMs),
    ratioToReference: reference === null ? null : reference / burst.medianMs,
    referenceMedianMs: reference,
  }
}

/** `beside`: the reference's, which is timed before the others. */
function toSustained(
  event: SustainedEvent,
  beside: SustainedTiming | null,
  { task, problem, rungs, reference }: MeasureRequest,
): SustainedTiming {
  const { seconds, medianMs, spread, smClockMHz, medianPowerW } = event
  const referenceMedianMs = event.rung === reference ? medianMs : (beside?.medianMs ?? null)
  const rung = rungs.find(({ id }) => id === event.rung)
  return {
    ...{ cacheState: 'warm', seconds, medianMs, spread, smClockMHz, powerW: medianPowerW },
    gflops: gflops(task, caseOf(problem, rung), medianMs),
    ratioToReference: referenceMedianMs === null ? null : referenceMedianMs / medianMs,
    referenceMedianMs,
    gpu: toGpuState(event, event.clockReasons),
  }
}

const toGpuState = (event: TimingEvent | SustainedEvent, reasons: number | null): GpuState => ({
  smClockLowMHz: event.smClockLowMHz ?? null,
  smClockHighMHz: event.smClockHighMHz ?? null,
  memoryClockMHz: event.memoryClockMHz ?? null,
  temperatureC: event.temperatureC ?? null,
  powerW: event.powerW ?? null,
  powerLimitW: event.powerLimitW ?? null,
  heldDownBy: reasons === null ? null : reasonsIn(reasons),
})
