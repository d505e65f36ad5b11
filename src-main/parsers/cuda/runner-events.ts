/**
 * Parses the events that kl-runner prints: one JSON object per line on stdout, discriminated by `event`.
 *
 * Units are in the field names (ms, MHz, bytes); `spread` and `fraction` are fractions of 1. A number that the runner
 * could not produce (NaN, infinity, no clock to read) is null. Everything else on stdout is ignored, such as a
 * library's banner or an object that only looks like an event, because a rung's code runs in the runner's process and
 * can print anything.
 */
import { z } from 'zod'
import { Ceilings } from '../../domain/gpu/ceilings'

const runnerStages = ['load', 'verify', 'time', 'profile', 'sanitize'] as const
const Stage = z.enum(runnerStages)
export type RunnerStage = z.infer<typeof Stage>

const count = z.number().int()
const figure = z.number().nullable()
/** Up to eleven days. Beyond that, rates and ratios may not be finite numbers that a session can store. */
const milliseconds = z.number().nonnegative().max(1e9)

const DeviceEvent = z.object({
  event: z.literal('device'),
  name: z.string(),
  pciBusId: z.string(),
  computeCapability: z.string(),
  smCount: count,
  smClockMaxMHz: figure,
  /** Runners of older recordings lack these two. */
  memoryClockMHz: figure.optional(),
  memoryBusBits: figure.optional(),
  memoryTotalBytes: z.number(),
  memoryFreeBytes: z.number(),
  l2Bytes: z.number(),
  sharedPerSmBytes: z.number(),
  sharedPerBlockOptinBytes: z.number(),
  registersPerSm: z.number(),
  maxThreadsPerSm: z.number(),
  maxBlocksPerSm: z.number(),
  warpSize: count,
  cudaDriver: z.string().nullable(),
  cudaRuntime: z.string().nullable(),
})

const StartEvent = z.object({
  event: z.literal('start'),
  /** null in the stage `reference`, because the common reference is not one of the rungs. */
  rung: z.string().nullable(),
  case: z.string().optional(),
  stage: z.enum([...runnerStages, 'reference']),
})

const ProgressEvent = z.object({
  event: z.literal('progress'),
  rung: z.string().optional(),
  case: z.string().optional(),
  stage: z.enum([...runnerStages, 'reference']),
  samples: count.optional(),
  spread: z.number().nullish(),
  fraction: z.number().nullish(),
})

/** Infinities are words and NaN is null; older recordings have null for both. */
const element = z.union([figure, z.enum(['Infinity', '-Infinity'])])

/** Runners of older recordings had one output matrix and named no buffer. */
const Mismatch = z.preprocess(
  (value) => {
    if (typeof value !== 'object' || value === null || !('row' in value && 'col' in value))
      return value
    const { row, col, ...rest } = value
    return { buffer: null, index: [row, col], ...rest }
  },
  z.object({
    buffer: z.string().nullable(),
    index: z.array(count),
    expected: element,
    actual: element,
  }),
)

const VerifyEvent = z.object({
  event: z.literal('verify'),
  rung: z.string(),
  passed: z.boolean(),
  worstRelativeError: figure,
  /** The worst error divided by the tolerance; at most 1 passes. */
  worstToleranceRatio: figure,
  mismatches: count,
  firstMismatch: Mismatch.nullable(),
  outOfBounds: z.boolean(),
  /** Names of the buffers. Runners of older recordings report neither. */
  outOfBoundsBuffers: z.array(z.string()).default([]),
  changedInputs: z.array(z.string()).default([]),
})

const TimingEvent = z.object({
  event: z.literal('timing'),
  rung: z.string(),
  /** No launch takes less than a nanosecond. */
  medianMs: milliseconds.min(1e-6),
  spread: z.number().nonnegative(),
  samplesMs: z.array(milliseconds).min(1),
  settled: z.boolean(),
  referenceMedianMs: milliseconds.nullable(),
  referenceSamplesMs: z.array(milliseconds),
  // Runners of older recordings did not report L2's contents, and timed every launch even if the host was late.
  cacheState: z.enum(['cold', 'warm']).optional(),
  late: count.optional(),
  includesHost: z.boolean().optional(),
  emptyMs: figure.optional(),
  /** Time that the GPU worked on a launch, from CUPTI. */
  busyMs: figure.optional(),
  clockMHz: figure.optional(),
  referenceClockMHz: figure.optional(),
  smClockBeforeMHz: figure,
  smClockAfterMHz: figure,
  // NVML's values during the timing; runners of older recordings did not query them.
  smClockLowMHz: figure.optional(),
  smClockHighMHz: figure.optional(),
  memoryClockMHz: figure.optional(),
  temperatureC: figure.optional(),
  powerW: figure.optional(),
  powerLimitW: figure.optional(),
  /** The bits of nvmlClocksThrottleReasons. */
  clockReasons: figure.optional(),
})

/** Bursts of launches after a rest, with the time per launch of each. The event follows the rung's timing. */
const BurstEvent = z.object({
  event: z.literal('burst'),
  rung: z.string(),
  /** Launches of one burst. */
  launches: count.positive(),
  restSeconds: z.number().nonnegative(),
  medianMs: milliseconds.min(1e-6),
  samplesMs: z.array(milliseconds).min(1),
  referenceMedianMs: milliseconds.nullable(),
  referenceSamplesMs: z.array(milliseconds),
})

/** Launches of one rung alone, for seconds. The event follows the rung's timing. */
const SustainedEvent = z.object({
  event: z.literal('sustained'),
  rung: z.string(),
  seconds: z.number().positive(),
  medianMs: milliseconds.min(1e-6),
  spread: z.number().nonnegative(),
  smClockMHz: figure,
  medianPowerW: figure,
  smClockLowMHz: figure,
  smClockHighMHz: figure,
  memoryClockMHz: figure,
  temperatureC: figure,
  powerW: figure,
  powerLimitW: figure,
  clockReasons: figure,
})

const cycles = z.array(z.number().nullable())

/**
 * Two builds of a rung and a copy of the old one, timed alternately. Elements 2i and 2i + 1 of each list belong to
 * block i.
 */
const PairEvent = z.object({
  event: z.literal('pair'),
  rung: z.string(),
  against: z.string(),
  newMs: z.array(milliseconds.min(1e-6)).min(2),
  oldMs: z.array(milliseconds.min(1e-6)).min(2),
  copyMs: z.array(milliseconds.min(1e-6)).min(2),
  /** null if unknown. */
  newCycles: cycles,
  oldCycles: cycles,
  smClockBeforeMHz: figure,
  smClockAfterMHz: figure,
})

const extent = z.tuple([count, count, count])

/** The kernels of one launch of a rung, in order, collected without a profiler; empty if there is a reason. */
const LaunchesEvent = z.object({
  event: z.literal('launches'),
  rung: z.string(),
  kernels: z.array(
    z.object({
      /** Empty if the driver does not report names. */
      name: z.string(),
      grid: extent,
      block: extent,
      registersPerThread: count,
      staticSharedBytes: count,
      dynamicSharedBytes: count,
      /** 0 without clusters. */
      clusterBlocks: count.nullable(),
    }),
  ),
  reason: z.string().nullable(),
})

const CeilingsEvent = Ceilings.extend({ event: z.literal('ceilings') })

const ProfiledEvent = z.object({
  event: z.literal('profiled'),
  rung: z.string(),
  /** Wall time of the marked launch including the profiler's work; runners before 2026-11 lack it. */
  seconds: z.number().nonnegative().nullish(),
})

/** A rung compiled its kernels in the runner's process before it was verified. */
const PreparedEvent = z.object({
  event: z.literal('prepared'),
  rung: z.string(),
  seconds: z.number().nonnegative().max(1e6),
  /** Such as `Python 3.12.3, torch 2.11.0`. */
  with: z.string().max(400).nullable(),
})

const LaunchedEvent = z.object({ event: z.literal('launched'), rung: z.string() })

const UnsupportedEvent = z.object({
  event: z.literal('unsupported'),
  rung: z.string(),
  reason: z.string(),
})

const FailedEvent = z.object({
  event: z.literal('failed'),
  rung: z.string(),
  stage: Stage,
  reason: z.string(),
  /** Whether a sticky CUDA error keeps the process from continuing. */
  fatal: z.boolean(),
})

/**
 * An error that does not concern a single rung: no device, too little memory, bad arguments. Extra fields are kept.
 */
const ErrorEvent = z.looseObject({
  event: z.literal('error'),
  kind: z.string(),
  message: z.string(),
})

const DoneEvent = z.object({ event: z.literal('done') })

export const RunnerEvent = z.discriminatedUnion('event', [
  DeviceEvent,
  StartEvent,
  ProgressEvent,
  VerifyEvent,
  TimingEvent,
  BurstEvent,
  SustainedEvent,
  PairEvent,
  LaunchesEvent,
  CeilingsEvent,
  ProfiledEvent,
  PreparedEvent,
  LaunchedEvent,
  UnsupportedEvent,
  FailedEvent,
  ErrorEvent,
  DoneEvent,
])
export type RunnerEvent = z.infer<typeof RunnerEvent>
export type RunnerEventOf<E extends RunnerEvent['event']> = Extract<RunnerEvent, { event: E }>

const knownEvents = new Set<string>(RunnerEvent.options.map((option) => option.shape.event.value))

function parseObject(line: string): Record<string, unknown> | null {
  if (!line.trimStart().startsWith('{')) return null
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return null
  }
}

/** Returns the event on a line of the runner's stdout, or null if the line is not an event. */
export function parseRunnerLine(line: string): RunnerEvent | null {
  const object = parseObject(line)
  if (typeof object?.event !== 'string' || !knownEvents.has(object.event)) return null
  return RunnerEvent.safeParse(object).data ?? null
}
