/**
 * Parses kl-runner's events: one JSON object per line on stdout, discriminated by `event`.
 *
 * Field names contain the unit (ms, MHz, bytes). The fields `spread` and `fraction` are fractions,
 * where 1 means 100 %. A number that the runner could not determine (NaN, infinity, no readable
 * clock) is null.
 *
 * All other stdout lines are ignored. A rung's code runs in the runner's process and can print
 * library banners or other JSON objects.
 */
import { z } from 'zod'
import { Ceilings } from '../../domain/gpu/ceilings'

const runnerStages = ['load', 'verify', 'time', 'profile', 'sanitize'] as const
const Stage = z.enum(runnerStages)
export type RunnerStage = z.infer<typeof Stage>

const count = z.number().int()
const figure = z.number().nullable()
/**
 * A duration of at most eleven days. Longer durations could lead to rates and ratios that are not
 * finite, which a session cannot store.
 */
const milliseconds = z.number().nonnegative().max(1e9)

const DeviceEvent = z.object({
  event: z.literal('device'),
  name: z.string(),
  pciBusId: z.string(),
  computeCapability: z.string(),
  smCount: count,
  smClockMaxMHz: figure,
  /** Missing from older recordings, as is `memoryBusBits`. */
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
  /** The rung's id. Null in the stage `reference`, because the reference is not a rung. */
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

/**
 * A buffer element's value. Infinity is a string and NaN is null. In older recordings, infinities
 * are also null.
 */
const element = z.union([figure, z.enum(['Infinity', '-Infinity'])])

/**
 * An element that differs from the expected result. Older recordings have a single output matrix
 * and no buffer name.
 */
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
  /** Worst error divided by its tolerance. The check passes if the value is at most 1. */
  worstToleranceRatio: figure,
  mismatches: count,
  firstMismatch: Mismatch.nullable(),
  outOfBounds: z.boolean(),
  /**
   * Names of the buffers with out-of-bounds writes. Older recordings have neither this field nor
   * `changedInputs`.
   */
  outOfBoundsBuffers: z.array(z.string()).default([]),
  changedInputs: z.array(z.string()).default([]),
})

const TimingEvent = z.object({
  event: z.literal('timing'),
  rung: z.string(),
  /** Median time per launch. No launch takes less than a nanosecond. */
  medianMs: milliseconds.min(1e-6),
  spread: z.number().nonnegative(),
  samplesMs: z.array(milliseconds).min(1),
  settled: z.boolean(),
  referenceMedianMs: milliseconds.nullable(),
  referenceSamplesMs: z.array(milliseconds),
  // State of the L2 cache. Missing from older recordings, whose runners also timed launches that
  // the host issued late.
  cacheState: z.enum(['cold', 'warm']).optional(),
  late: count.optional(),
  includesHost: z.boolean().optional(),
  emptyMs: figure.optional(),
  /** Time that the GPU spent on a launch, as measured by CUPTI. */
  busyMs: figure.optional(),
  clockMHz: figure.optional(),
  referenceClockMHz: figure.optional(),
  smClockBeforeMHz: figure,
  smClockAfterMHz: figure,
  // NVML values during the timing. Missing from older recordings.
  smClockLowMHz: figure.optional(),
  smClockHighMHz: figure.optional(),
  memoryClockMHz: figure.optional(),
  temperatureC: figure.optional(),
  powerW: figure.optional(),
  powerLimitW: figure.optional(),
  /** Bit mask of nvmlClocksThrottleReasons. */
  clockReasons: figure.optional(),
})

/**
 * Bursts of launches after a pause, with the time per launch in each burst. The burst event follows
 * the rung's timing event.
 */
const BurstEvent = z.object({
  event: z.literal('burst'),
  rung: z.string(),
  /** Number of launches per burst. */
  launches: count.positive(),
  restSeconds: z.number().nonnegative(),
  medianMs: milliseconds.min(1e-6),
  samplesMs: z.array(milliseconds).min(1),
  referenceMedianMs: milliseconds.nullable(),
  referenceSamplesMs: z.array(milliseconds),
})

/**
 * Launches of one rung, repeated continuously for several seconds. The sustained event follows the
 * rung's timing event.
 */
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
 * An old build of a rung, a new build, and a copy of the old build, timed alternately. Elements 2i
 * and 2i + 1 of each list belong to block i.
 */
const PairEvent = z.object({
  event: z.literal('pair'),
  rung: z.string(),
  against: z.string(),
  newMs: z.array(milliseconds.min(1e-6)).min(2),
  oldMs: z.array(milliseconds.min(1e-6)).min(2),
  copyMs: z.array(milliseconds.min(1e-6)).min(2),
  /** The new build's clock cycles, or null if unknown. */
  newCycles: cycles,
  oldCycles: cycles,
  smClockBeforeMHz: figure,
  smClockAfterMHz: figure,
})

const extent = z.tuple([count, count, count])

/**
 * Kernels that one launch of a rung starts, in order, recorded without a profiler. The list is
 * empty if `reason` is set.
 */
const LaunchesEvent = z.object({
  event: z.literal('launches'),
  rung: z.string(),
  kernels: z.array(
    z.object({
      /** The kernel's name. Empty if the driver does not report names. */
      name: z.string(),
      grid: extent,
      block: extent,
      registersPerThread: count,
      staticSharedBytes: count,
      dynamicSharedBytes: count,
      /** Number of blocks per cluster, or 0 if the launch has no clusters. */
      clusterBlocks: count.nullable(),
    }),
  ),
  reason: z.string().nullable(),
})

const CeilingsEvent = Ceilings.extend({ event: z.literal('ceilings') })

const ProfiledEvent = z.object({
  event: z.literal('profiled'),
  rung: z.string(),
  /**
   * Wall time of the marked launch, including the profiler's work. Missing from events of runners
   * built before 2026-11.
   */
  seconds: z.number().nonnegative().nullish(),
})

/**
 * Compilation of kernels that a rung itself performs in the runner's process before verification.
 */
const PreparedEvent = z.object({
  event: z.literal('prepared'),
  rung: z.string(),
  seconds: z.number().nonnegative().max(1e6),
  /** Software that compiled the kernels, such as `Python 3.12.3, torch 2.11.0`. */
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
  /** Whether a sticky CUDA error prevents the process from continuing. */
  fatal: z.boolean(),
})

/**
 * An error that affects the whole run, such as a missing device, insufficient memory, or bad
 * arguments. Extra fields are preserved.
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

/** Parses a line of the runner's stdout. Returns null if the line is not an event. */
export function parseRunnerLine(line: string): RunnerEvent | null {
  const object = parseObject(line)
  if (typeof object?.event !== 'string' || !knownEvents.has(object.event)) return null
  return RunnerEvent.safeParse(object).data ?? null
}
