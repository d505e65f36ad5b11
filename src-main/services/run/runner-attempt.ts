/** Runs one runner process over the rungs that have no result yet. */
import { measureArgs, runRunner, type RunnerEvent } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { message, type Statement } from '../../domain/messages/message'
import { KernelLadderError } from '../../domain/errors'
import type { Measured } from './measured'
import type { Verify } from '../../domain/session/session'
import { throwIfHopeless, causeOf, tail, type At, type Attempt } from './runner-failure'
import { toLaunch, toVerify, toTiming, toBurst, toSustained } from './runner-results'
import type { MeasureRequest } from './measurement'

/** Number of bursts per rung, enough to compute a median. The GPU is idle before each burst. */
const burstsOfRung = 3

/**
 * Seconds of sustained launches. Including one second of warm-up, the launches take three seconds.
 * By that time, clocks and temperature have settled.
 */
const sustainedSeconds = 2

/**
 * Runs one runner process over the unfinished rungs. Throws an error if a restart cannot fix the
 * failure.
 */
export async function attempt(
  request: MeasureRequest,
  number: number,
  done: ReadonlyMap<string, Measured>,
  settled: (rung: string, measured: Measured) => void,
): Promise<void> {
  const { task, problem, signal } = request
  const reference = request.rungs.find(({ id }) => id === request.reference)
  const referenceUsable = reference !== undefined && done.get(reference.id)?.trouble === undefined
  const open = request.rungs.filter(({ id }) => !done.has(id))
  // Each attempt loads the reference and the trusted rung, even if their results are already known.
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

  /**
   * Whether the runner could have sent this event at this point. A rung's code runs in the runner's
   * process and may forge events.
   */
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
        // The runner launches the reference alternately with the timed rung.
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
        if (at?.rung != null) request.tell({ type: 'out-of-turn', rung: at.rung })
        return false
      }
      switch (event.event) {
        case 'start':
          if (event.stage === 'load') loadingSince = performance.now()
          if (event.rung !== null && event.stage !== 'reference')
            request.tell({ type: 'start', rung: event.rung, stage: event.stage })
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
          if (verify.passed) request.tell({ type: 'verified', rung: event.rung })
          else settle(event.rung, { verify, timing: null })
          break
        }
        case 'timing':
          settle(event.rung, {
            verify: verified.get(event.rung) ?? null,
            timing: toTiming(event, request),
          })
          break
        // The runner sends the `launches` event after timing the rung, so a failure to record
        // launches never discards the timing.
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
          const { event: _event, ...ceilings } = event
          request.tell({ type: 'ceilings', ceilings })
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

/**
 * Runs the runner once. `onEvent` receives the runner's position and returns whether to accept the
 * event.
 */
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
