/**
 * A session: all rungs that one run built, verified, timed and profiled. Sessions are immutable;
 * every run creates a new session. `session.json` has this form. docs/reference/session-format.md
 * describes the format's history.
 */
import { z } from 'zod'
import { Ceilings } from '../gpu/ceilings'
import { findById } from '../ladder/former-ids'
import { Ladder } from '../ladder/ladder'
import { Statement } from '../messages/message'
import { MetricValue } from '../metrics/metrics'
import { ProfileLevel } from '../metrics/metric-definition'
import { can, Target } from '../targets/targets'
import { Problem } from '../task/problem'
import { Expectation, Identifier, Parameters, rungFileId } from '../ladder/rung'
import { Device } from '../gpu/device'
import { GpuState } from '../gpu/gpu-state'
import { PredictedTime, PredictionSource } from './predicted'

export const sessionSchemaVersion = 3

export const rungStatuses = ['ok', 'wrong', 'failed', 'unsupported', 'not-run'] as const
export const RungStatus = z.enum(rungStatuses)
export type RungStatus = z.infer<typeof RungStatus>

/** A compiler message with its location in a rung's source. */
export const Diagnostic = z.object({
  severity: z.enum(['error', 'warning', 'note']),
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  message: z.string(),
})
export type Diagnostic = z.infer<typeof Diagnostic>

export const Build = z.object({
  /**
   * Registers per thread; the maximum over the rung's kernels. Null if ptxas reported no count, as
   * for a library call.
   */
  registersPerThread: z.number().nullable(),
  staticSharedBytes: z.number().nullable(),
  spillStoreBytes: z.number().nullable(),
  spillLoadBytes: z.number().nullable(),
  /** Wall time of nvcc when this source was last compiled. */
  seconds: z.number(),
  cached: z.boolean(),
})
export type Build = z.infer<typeof Build>

/**
 * One element of a result. JSON cannot represent NaN and infinity. NaN is therefore null, and
 * strings represent infinities and integers beyond 2^53. If an exact check compares NaN bits, NaN
 * is a string that contains the bits.
 */
const Element = z
  .union([
    z.number(),
    z.enum(['Infinity', '-Infinity']),
    z.string().regex(/^-?\d+$|^NaN \(0x[0-9a-f]+\)$/),
  ])
  .nullable()

export const Mismatch = z.object({
  /** Name of the buffer in the task. */
  buffer: z.string(),
  index: z.array(z.number().int()),
  expected: Element,
  actual: Element,
})
export type Mismatch = z.infer<typeof Mismatch>

export const Verify = z.object({
  passed: z.boolean(),
  /** The largest error divided by the scale of the task's check. Null if a NaN or Inf was found. */
  worstRelativeError: z.number().nullable(),
  mismatches: z.number().int(),
  firstMismatch: Mismatch.nullable(),
  /** Buffers with out-of-bounds writes, by their names in the task. */
  outOfBounds: z.array(z.string()),
  /** Read-only buffers that the rung wrote to. */
  changedInputs: z.array(z.string()),
})
export type Verify = z.infer<typeof Verify>

/**
 * L2 state when a launch was timed. `cold`: L2 contains no lines of the rung's buffers and no dirty
 * lines. `warm`: L2 still has the contents from the previous launch. `cold-dirty`: L2 was filled
 * with dirty lines. Only upgraded and imported sessions have `cold-dirty` or `unknown`.
 */
const cacheStates = ['cold', 'warm', 'cold-dirty', 'unknown'] as const
export const CacheState = z.enum(cacheStates)
export type CacheState = z.infer<typeof CacheState>

/**
 * Timing of bursts: consecutive launches after an idle period. During a burst, the clock is higher
 * than for alternating single launches.
 */
export const BurstTiming = z.object({
  cacheState: CacheState,
  /** Launches per burst. */
  launches: z.number().int().positive(),
  /** Idle time before each burst. */
  restSeconds: z.number().nonnegative(),
  /** Median time per launch, computed as the burst's time divided by its number of launches. */
  medianMs: z.number(),
  samplesMs: z.array(z.number()),
  gflops: z.number().nullable(),
  /**
   * Time of the reference's bursts divided by the time of the rung's bursts. The bursts of the
   * reference and the rung alternate. Null if there is no reference.
   */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
})
export type BurstTiming = z.infer<typeof BurstTiming>

/**
 * Timing of one rung that is launched repeatedly for several seconds, after one second of warm-up.
 * The rung's own power draw limits the clock.
 */
export const SustainedTiming = z.object({
  cacheState: CacheState,
  seconds: z.number().positive(),
  /**
   * Median time per launch, computed as the total time of consecutive launches divided by the
   * number of launches.
   */
  medianMs: z.number(),
  /** Interquartile range divided by the median. */
  spread: z.number(),
  gflops: z.number().nullable(),
  /**
   * The reference's sustained time divided by the rung's sustained time; null if there is no
   * reference.
   */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
  /**
   * Median SM clock and power during the timed seconds; null if the driver does not report them.
   */
  smClockMHz: z.number().nullable(),
  powerW: z.number().nullable(),
  gpu: GpuState,
})
export type SustainedTiming = z.infer<typeof SustainedTiming>

/**
 * Kinds of timing. Single launches are always timed. `all` includes bursts and sustained launches.
 */
export const timingWays = ['single', 'burst', 'sustained', 'all'] as const
export const TimingWay = z.enum(timingWays)
export type TimingWay = z.infer<typeof TimingWay>

/**
 * Timing of single launches, interleaved with the reference's launches. `burst` and `sustained`
 * contain the other kinds of timing.
 */
export const Timing = z.object({
  cacheState: CacheState,
  medianMs: z.number(),
  /** Interquartile range divided by the median. */
  spread: z.number(),
  samples: z.number().int(),
  samplesMs: z.array(z.number()),
  /**
   * Whether the median's 95 % confidence interval narrowed to 0.5 % before the sample limit was
   * reached.
   */
  settled: z.boolean(),
  /** Throughput; null if the task does not count operations. */
  gflops: z.number().nullable(),
  /**
   * Reference time divided by this rung's time, sampled alternately in one process. Null if there
   * is no reference.
   */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
  /**
   * Number of launches that were excluded because the host submitted them too late. Absent in older
   * sessions.
   */
  late: z.number().int().nonnegative().optional(),
  /**
   * Whether the rung's launch function waits for the GPU. The rung's time then includes host time.
   * Absent in older sessions.
   */
  includesHost: z.boolean().optional(),
  /**
   * Time between two events with no work in between. This overhead is part of every measured time.
   */
  emptyMs: z.number().nullable().optional(),
  /** GPU time of a launch from CUPTI's activity records; null if CUPTI did not report it. */
  gpuMs: z.number().nullable().optional(),
  /**
   * SM clock during the samples of the rung and the interleaved reference, computed from cycles.
   * Null for short launches.
   */
  clockMHz: z.number().nullable().optional(),
  referenceClockMHz: z.number().nullable().optional(),
  smClockBeforeMHz: z.number().nullable(),
  smClockAfterMHz: z.number().nullable(),
  /** State of the GPU during timing. Absent in older sessions. */
  gpu: GpuState.optional(),
  /** Burst timing, if the run requested it. */
  burst: BurstTiming.optional(),
  sustained: SustainedTiming.optional(),
})
export type Timing = z.infer<typeof Timing>

/**
 * A kernel's time under a profiler. ncu runs every launch in isolation, with the cache and clock
 * control in `settings`. CUPTI times launches in the running program, in which they may run
 * concurrently with other launches. Times from ncu, CUPTI and the runner are not comparable with
 * each other.
 */
export const ProfiledTime = z.object({
  /** The profiler; absent for ncu. */
  timer: z.literal('cupti').optional(),
  /** Number of launches. 1 if the kernels of one NVTX range were summed. */
  launches: z.number().int().positive(),
  /** Total time of the launches. */
  totalMs: z.number().nonnegative(),
  medianMs: z.number().nonnegative(),
  minMs: z.number().nonnegative(),
  maxMs: z.number().nonnegative(),
  /** Interquartile range divided by the median; null for a single launch. */
  spread: z.number().nullable(),
})
export type ProfiledTime = z.infer<typeof ProfiledTime>

/** ncu's metrics in base units, keyed by ncu's names. The unit is empty if unknown. */
export const NcuMetrics = z.record(
  z.string(),
  z.object({
    value: z.union([z.number(), z.string(), z.null()]),
    unit: z.string(),
    /** The NaN or infinity that ncu reported instead of a value. */
    reported: z.string().optional(),
  }),
)
export type NcuMetrics = z.infer<typeof NcuMetrics>

/** Resources of one block of a launch; null if the profiler did not report them. */
export const LaunchResources = z.object({
  registersPerThread: z.number().nullable(),
  /** Statically declared and dynamically requested shared memory in bytes. */
  staticSharedBytes: z.number().nullable(),
  dynamicSharedBytes: z.number().nullable(),
  barriers: z.number().nullable(),
  /** The SM's configured shared memory in bytes during the launch. */
  carveOutBytes: z.number().nullable(),
  /** Blocks per cluster; 0 if the launch has no clusters. */
  clusterBlocks: z.number().nullable(),
})
export type LaunchResources = z.infer<typeof LaunchResources>

/** A rung's kernel launch as the runner observed it, without a profiler. */
export const Launch = z.object({
  /** Kernel name; empty if the driver does not report it. */
  name: z.string(),
  grid: z.tuple([z.number(), z.number(), z.number()]),
  block: z.tuple([z.number(), z.number(), z.number()]),
  resources: LaunchResources,
})
export type Launch = z.infer<typeof Launch>

/** Work that a Python rung did in the runner's process before verification and timing. */
export const Prepared = z.object({
  /** Seconds for importing packages, compiling, and the first launches. */
  seconds: z.number(),
  /**
   * Versions of Python and the rung's Python package, such as `Python 3.12.3, torch 2.11.0`; null
   * if unknown.
   */
  with: z.string().nullable(),
})
export type Prepared = z.infer<typeof Prepared>

/** Result of running a program rung. */
export const ProgramRun = z.object({
  /** Command as written in the ladder. */
  command: z.array(z.string()).min(1),
  /** Exit code; null if a signal or the user stopped the program. */
  exitCode: z.number().int().nullable(),
  /** The program's output, if the ladder names an output file. */
  output: z
    .object({
      file: z.string(),
      bytes: z.number().int(),
      /** SHA-256 of the output file in hex. */
      sha256: z.string(),
    })
    .nullable(),
})
export type ProgramRun = z.infer<typeof ProgramRun>

export const ProfiledKernel = z.object({
  name: z.string(),
  /** Grid; null in an import without this column, such as from older versions of ncu. */
  grid: z.tuple([z.number(), z.number(), z.number()]).nullable(),
  block: z.tuple([z.number(), z.number(), z.number()]).nullable(),
  passes: z.number().int().nullable(),
  /**
   * Innermost NVTX range around the launch, in imports and in sessions of programs. Absent outside
   * any range.
   */
  range: z.string().optional(),
  /**
   * NVTX ranges around the launch, outermost first, including `range` as the last range. Absent
   * unless there are several ranges.
   */
  ranges: z.array(z.string()).optional(),
  /**
   * Resources that the launch uses. Absent in older sessions, and if the profile does not contain
   * the resources.
   */
  resources: LaunchResources.optional(),
  /** Profiler time over all launches of the kernel; only for program rungs. */
  profiledTime: ProfiledTime.optional(),
  /** All of ncu's metrics; only in an import if the rung has several kernels. See `RungResult`. */
  ncuMetrics: NcuMetrics.optional(),
})
export type ProfiledKernel = z.infer<typeof ProfiledKernel>

/** A verification at an additional problem that the run requested. */
export const VerifiedAt = z.object({
  problem: Problem,
  /** Verification result; null if verification did not run. */
  verify: Verify.nullable(),
  /** Reason why the verification did not pass. */
  reason: Statement.optional(),
})
export type VerifiedAt = z.infer<typeof VerifiedAt>

export const Profile = z.object({
  /** Largest number of replay passes that any of the rung's kernels needed. */
  passes: z.number().int(),
  /** Wall time of the rung under ncu, including all passes. Absent in older sessions. */
  seconds: z.number().optional(),
  kernels: z.array(ProfiledKernel),
})
export type Profile = z.infer<typeof Profile>

export const RungResult = z.object({
  id: Identifier,
  title: z.string(),
  after: Identifier.nullable(),
  idea: z.string(),
  expect: z.array(Expectation),
  /** The task's enabled flags, one per extra computation in the rung. */
  flags: z.array(z.string()),
  params: Parameters,
  /**
   * nvcc arguments other than the default flags, with environment variables unexpanded. Absent if
   * there are only default flags.
   */
  buildWords: z.array(z.string()).optional(),
  /** Path under the session's `sources/`. */
  file: z.string(),
  /** SHA-256 of the source in hex. */
  sourceHash: z.string(),
  status: RungStatus,
  reason: Statement.optional(),
  diagnostics: z.array(Diagnostic),
  build: Build.nullable(),
  verify: Verify.nullable(),
  /** Verifications at additional problems, if the run requested them. */
  alsoVerified: z.array(VerifiedAt).optional(),
  /** Measured time; for a program, the wall time of the whole process. */
  timing: Timing.nullable(),
  /**
   * Predicted time, which replaces the measured time for the target `predicted`. Absent if the
   * model could not predict a time.
   */
  predicted: PredictedTime.optional(),
  /** Reason why the model could not predict a time. */
  notPredicted: Statement.optional(),
  /** The program's run; only for program rungs. */
  program: ProgramRun.optional(),
  /**
   * Observed launches. Absent in older sessions, and if the runner could not observe the launches.
   */
  launches: z.array(Launch).optional(),
  /** Preparation of a Python rung; absent for other rungs. */
  prepared: Prepared.optional(),
  profile: Profile.nullable(),
  /**
   * Kernel time under a profiler; only in imports and in sessions of programs. For a program rung,
   * the time covers all launches.
   */
  profiledTime: ProfiledTime.optional(),
  metrics: z.record(z.string(), MetricValue),
  /**
   * All of ncu's metrics in addition to the registry's; only in an import if the rung is a single
   * launch.
   */
  ncuMetrics: NcuMetrics.optional(),
})
export type RungResult = z.infer<typeof RungResult>

const Tools = z.object({
  nvcc: z.string().nullable(),
  ncu: z.string().nullable(),
})
type Tools = z.infer<typeof Tools>

const Settings = z.object({
  nvccFlags: z.array(z.string()),
  seed: z.number().int(),
  /** L2 state for single launches; absent if nothing was timed. */
  cacheState: CacheState.optional(),
  profile: ProfileLevel,
  /** Kind of timing; `single` if absent. */
  timing: TimingWay.optional(),
  /** Rungs excluded from profiling, on request or because of their duration. */
  profileSkipped: z.array(Identifier).optional(),
  /** ncu's --clock-control and --cache-control; null if nothing was profiled. */
  clockControl: z.string().nullable(),
  cacheControl: z.string().nullable(),
  /** Index of the GPU in nvidia-smi on a machine with several GPUs. Absent in older sessions. */
  gpu: z.number().int().nonnegative().optional(),
})
type Settings = z.infer<typeof Settings>

/** The program that a session profiled. */
export const Program = z.object({
  /** Command as given by the user, without ncu. */
  command: z.array(z.string()).nonempty(),
  /** Exit code; null if a signal or the user stopped the program. */
  exitCode: z.number().int().nullable(),
  /** Requested filters; null if none were requested. */
  filters: z.object({
    kernels: z.string().nullable(),
    nvtx: z.string().nullable(),
    skip: z.number().int(),
    count: z.number().int().nullable(),
  }),
  /**
   * Number of observed launches, and their total time. The session may have fewer rungs than the
   * program had launches.
   */
  launches: z.number().int(),
  totalMs: z.number(),
})
export type Program = z.infer<typeof Program>

/**
 * The machine that executed a remote run: the named machine, or the node that a scheduler assigned.
 */
export const SessionHost = z.object({
  name: z.string(),
  /** Slurm job number; null if there is no scheduler. */
  job: z.string().nullable(),
})
export type SessionHost = z.infer<typeof SessionHost>

export const Session = z.object({
  schema: z.literal(sessionSchemaVersion),
  id: z.string(),
  createdAt: z.iso.datetime(),
  appVersion: z.string(),
  target: Target,
  ladder: Ladder,
  /** The problem; null if unknown, as for counters imported from ncu. */
  problem: Problem.nullable(),
  device: Device.nullable(),
  /** The machine that executed a remote run; absent for local runs. */
  host: SessionHost.optional(),
  /**
   * GPU ceilings that were measured before the rungs were timed. Absent if the ceilings were not
   * measured.
   */
  ceilings: Ceilings.optional(),
  /** Source of the predictions; present only for the target `predicted`. */
  prediction: PredictionSource.optional(),
  tools: Tools,
  settings: Settings,
  /** `cancelled`: the user stopped the run. The session contains the results up to that point. */
  completion: z.enum(['complete', 'cancelled']),
  /** Wall time of the whole run in seconds, from the request to the last counter. */
  elapsedSeconds: z.number(),
  /**
   * Problems that affect the figures, such as a missing permission for counters, or a source that
   * has changed since the run.
   */
  warnings: z.array(Statement),
  rungs: z.array(RungResult),
  /** The profiled program; only for the target `program`. */
  program: Program.optional(),
})
export type Session = z.infer<typeof Session>

/** Returns whether the rungs are programs. The times of programs cover whole processes. */
export const isOfPrograms = ({ rungs }: Pick<Session, 'rungs'>): boolean =>
  rungs.some(({ program }) => program !== undefined)

export const rungOf = (session: Session, id: string): RungResult | undefined =>
  findById(session.rungs, id)

/**
 * Returns whether the rungs build on each other. The launches in an imported session and the
 * kernels of a profiled program are independent.
 */
export const climbs = ({ program, target }: Pick<Session, 'program' | 'target'>): boolean =>
  program === undefined && can(target).knowsRun

/**
 * Returns the rung that a rung is compared with by default. For a variant, returns the previous
 * variant of the same file. For other rungs, returns the rung in `after`, or the preceding rung in
 * the session. Never returns the reference, because the ratio already compares the rung with the
 * reference.
 */
export function rungBefore(session: Session, id: string): RungResult | undefined {
  const index = session.rungs.findIndex((rung) => rung.id === id)
  if (index < 0) return undefined
  const { after, file } = session.rungs[index]!
  const above = session.rungs.slice(0, index)
  const isVariant = rungFileId(file.split('/').at(-1)!) !== id
  const before =
    (isVariant && file !== '' ? above.findLast((rung) => rung.file === file) : undefined) ??
    (after ? rungOf(session, after) : undefined) ??
    above.at(-1)
  return before && before.id !== session.ladder.reference ? before : undefined
}
