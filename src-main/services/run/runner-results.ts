/** Converts the runner's events to the types stored in a session. */
import type { RunnerEvent } from '../../adapters/tools/runner'
import { caseOf, gflops } from '../../domain/task/problem'
import { outputsOf, type Task } from '../../domain/task/task'
import type {
  BurstTiming,
  Launch,
  SustainedTiming,
  Timing,
  Verify,
} from '../../domain/session/session'
import type { MeasureRequest } from './measurement'
import { reasonsIn, type GpuState } from '../../domain/gpu/gpu-state'

type LaunchedKernel = Extract<RunnerEvent, { event: 'launches' }>['kernels'][number]

export const toLaunch = ({ name, grid, block, ...resources }: LaunchedKernel): Launch => ({
  name,
  grid,
  block,
  resources: { ...resources, barriers: null, carveOutBytes: null },
})

type TimingEvent = Extract<RunnerEvent, { event: 'timing' }>

type BurstEvent = Extract<RunnerEvent, { event: 'burst' }>

type SustainedEvent = Extract<RunnerEvent, { event: 'sustained' }>

type VerifyEvent = Extract<RunnerEvent, { event: 'verify' }>

/**
 * Converts a verification. Older runners have a single output, so their events do not name a
 * buffer.
 */
export function toVerify(event: VerifyEvent, task: Task): Verify {
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

export function toTiming(event: TimingEvent, request: MeasureRequest): Timing {
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
    // The fields below are missing from older recordings.
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

export function toBurst(
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

/**
 * Converts a sustained timing from the runner. `beside` is the timing of the reference, which is
 * timed first.
 */
export function toSustained(
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
