/**
 * A session: what one run built, verified, timed and profiled. Immutable; a new run makes a new one.
 * `session.json` holds this shape. Its history is in docs/reference/session-format.md.
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
  /** The maximum over the rung's kernels; null if ptxas reported none (a library call). */
  registersPerThread: z.number().nullable(),
  staticSharedBytes: z.number().nullable(),
  spillStoreBytes: z.number().nullable(),
  spillLoadBytes: z.number().nullable(),
  /** Wall time of nvcc when this source was last compiled. */
  seconds: z.number(),
  cached: z.boolean(),
})
export type Build = z.infer<typeof Build>

/** An element that differs from the expected value; null stands for NaN and infinity. */
/** An element of a result. JSON has no infinities or NaN; NaN is null. */
/** Strings represent infinities, integers beyond 2^53, and NaN with its bits where an exact check compares them. */
const Element = z
  .union([
    z.number(),
    z.enum(['Infinity', '-Infinity']),
    z.string().regex(/^-?\d+$|^NaN \(0x[0-9a-f]+\)$/),
  ])
  .nullable()

export const Mismatch = z.object({
  /** Its name in the task. */
  buffer: z.string(),
  index: z.array(z.number().int()),
  expected: Element,
  actual: Element,
})
export type Mismatch = z.infer<typeof Mismatch>

export const Verify = z.object({
  passed: z.boolean(),
  /** The largest |error| divided by the scale of the task's check; null if a NaN or Inf was found. */
  worstRelativeError: z.number().nullable(),
  mismatches: z.number().int(),
  firstMismatch: Mismatch.nullable(),
  /** Buffers with out-of-bounds writes, by their names in the task. */
  outOfBounds: z.array(z.string()),
  /** Read-only buffers that it wrote to. */
  changedInputs: z.array(z.string()),
})
export type Verify = z.infer<typeof Verify>

/**
 * L2 contents when a launch was timed. `cold`: no line of the rung's buffers, and no dirty line. `warm`: whatever the previous launch left.
 * Only upgraded and imported sessions have the others: `cold-dirty` (filled with dirty lines) and `unknown`.
 */
const cacheStates = ['cold', 'warm', 'cold-dirty', 'unknown'] as const
export const CacheState = z.enum(cacheStates)
export type CacheState = z.infer<typeof CacheState>

/** Timing of bursts: consecutive launches on a rested GPU. Its clock is higher than between alternating single launches. */
export const BurstTiming = z.object({
  cacheState: CacheState,
  /** Launches per burst. */
  launches: z.number().int().positive(),
  /** Idle time before each burst. */
  restSeconds: z.number().nonnegative(),
  /** Per launch: the burst's time divided by its launches. */
  medianMs: z.number(),
  samplesMs: z.array(z.number()),
  gflops: z.number().nullable(),
  /** Relative to bursts of the reference, which alternate with the rung's; null without a reference. */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
})
export type BurstTiming = z.infer<typeof BurstTiming>

/** Timing of one rung alone, launched repeatedly for seconds, after one second of warm-up. Its clock is what its own power draw allows. */
export const SustainedTiming = z.object({
  cacheState: CacheState,
  seconds: z.number().positive(),
  /** Per launch: the time of consecutive launches divided by their number. */
  medianMs: z.number(),
  /** Interquartile range over the median. */
  spread: z.number(),
  gflops: z.number().nullable(),
  /** Relative to the reference's own sustained time; null without a reference. */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
  /** Medians over these seconds; null if the driver does not report them. */
  smClockMHz: z.number().nullable(),
  powerW: z.number().nullable(),
  gpu: GpuState,
})
export type SustainedTiming = z.infer<typeof SustainedTiming>

/** What is timed in addition to single launches. `all`: bursts and sustained launches. */
export const timingWays = ['single', 'burst', 'sustained', 'all'] as const
export const TimingWay = z.enum(timingWays)
export type TimingWay = z.infer<typeof TimingWay>

/** Timing of single launches, interleaved with the reference's. `burst` and `sustained` hold the other kinds. */
export const Timing = z.object({
  cacheState: CacheState,
  medianMs: z.number(),
  /** Interquartile range over the median. */
  spread: z.number(),
  samples: z.number().int(),
  samplesMs: z.array(z.number()),
  /** The 95% confidence interval of the median came within 0.5% before the sample limit was reached. */
  settled: z.boolean(),
  /** null if the task does not count operations. */
  gflops: z.number().nullable(),
  /** Reference time divided by this rung's time, sampled alternately in one process; null without a reference. */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
  /** Launches that reached the GPU late because of the host, and were left out; absent in sessions that predate it. */
  late: z.number().int().nonnegative().optional(),
  /** Its launch waits for the GPU, so the time includes the host's; absent in sessions that predate it. */
  includesHost: z.boolean().optional(),
  /** Time between two events with no work in between: the part of a time that belongs to no kernel. */
  emptyMs: z.number().nullable().optional(),
  /** Time that the GPU worked on a launch, from CUPTI's activity records; null without CUPTI. */
  gpuMs: z.number().nullable().optional(),
  /** SM clock during the samples and during the interleaved samples of the reference, computed from cycles; null for short launches. */
  clockMHz: z.number().nullable().optional(),
  referenceClockMHz: z.number().nullable().optional(),
  smClockBeforeMHz: z.number().nullable(),
  smClockAfterMHz: z.number().nullable(),
  /** State of the GPU during timing; absent in sessions that predate it. */
  gpu: GpuState.optional(),
  /** Set if the run requested it. */
  burst: BurstTiming.optional(),
  sustained: SustainedTiming.optional(),
})
export type Timing = z.infer<typeof Timing>

/**
 * A kernel's time under a profiler. ncu runs every launch in isolation, with the caches and clocks in `settings`. CUPTI times launches as
 * the program issued them, possibly concurrent with others. Neither is comparable with a runner's time, nor with each other.
 */
export const ProfiledTime = z.object({
  /** Absent for ncu. */
  timer: z.literal('cupti').optional(),
  /** Number of launches; 1 for the kernels of one NVTX range, which are summed. */
  launches: z.number().int().positive(),
  /** The sum over the launches. */
  totalMs: z.number().nonnegative(),
  medianMs: z.number().nonnegative(),
  minMs: z.number().nonnegative(),
  maxMs: z.number().nonnegative(),
  /** Interquartile range over the median; null for a single launch. */
  spread: z.number().nullable(),
})
export type ProfiledTime = z.infer<typeof ProfiledTime>

/** ncu's metrics by their own names, in base units; the unit is empty if unknown. */
export const NcuMetrics = z.record(
  z.string(),
  z.object({
    value: z.union([z.number(), z.string(), z.null()]),
    unit: z.string(),
    /** The NaN or infinity that ncu reported, if there is no value. */
    reported: z.string().optional(),
  }),
)
export type NcuMetrics = z.infer<typeof NcuMetrics>

/** The resources of one block of a launch; null if the profiler did not report them. */
export const LaunchResources = z.object({
  registersPerThread: z.number().nullable(),
  /** Statically declared and dynamically requested shared memory, in bytes. */
  staticSharedBytes: z.number().nullable(),
  dynamicSharedBytes: z.number().nullable(),
  barriers: z.number().nullable(),
  /** Shared memory configured on the SM for the launch, in bytes. */
  carveOutBytes: z.number().nullable(),
  /** Blocks per cluster; 0 if the launch has no clusters. */
  clusterBlocks: z.number().nullable(),
})
export type LaunchResources = z.infer<typeof LaunchResources>

/** A kernel launch of a rung as seen by the runner, without a profiler. */
export const Launch = z.object({
  /** Empty if the driver does not report it. */
  name: z.string(),
  grid: z.tuple([z.number(), z.number(), z.number()]),
  block: z.tuple([z.number(), z.number(), z.number()]),
  resources: LaunchResources,
})
export type Launch = z.infer<typeof Launch>

/** What a rung compiled in the runner's process before verification and timing. */
export const Prepared = z.object({
  /** Importing its packages' kernels, compiling, and the first launches. */
  seconds: z.number(),
  /** `Python 3.12.3, torch 2.11.0`; null if unknown. */
  with: z.string().nullable(),
})
export type Prepared = z.infer<typeof Prepared>

/** One run of a program rung. */
export const ProgramRun = z.object({
  /** Exactly as in the ladder. */
  command: z.array(z.string()).min(1),
  /** null if a signal ended it or it was stopped. */
  exitCode: z.number().int().nullable(),
  /** What it wrote, if the ladder names a file. */
  output: z
    .object({
      file: z.string(),
      bytes: z.number().int(),
      /** SHA-256 of its bytes, hex. */
      sha256: z.string(),
    })
    .nullable(),
})
export type ProgramRun = z.infer<typeof ProgramRun>

export const ProfiledKernel = z.object({
  name: z.string(),
  /** null in an import whose table lacks the column, as with older versions of ncu. */
  grid: z.tuple([z.number(), z.number(), z.number()]).nullable(),
  block: z.tuple([z.number(), z.number(), z.number()]).nullable(),
  passes: z.number().int().nullable(),
  /** The innermost NVTX range that it was launched in, in imports and sessions of a program; absent outside any. */
  range: z.string().optional(),
  /** The ranges around it, outermost first and `range` last; absent unless there are several. */
  ranges: z.array(z.string()).optional(),
  /** Absent in sessions that predate it, or if the profile does not contain it. */
  resources: LaunchResources.optional(),
  /** Set for a program rung, over all of the kernel's launches. */
  profiledTime: ProfiledTime.optional(),
  /** Set in an import if the rung has several kernels; see RungResult. */
  ncuMetrics: NcuMetrics.optional(),
})
export type ProfiledKernel = z.infer<typeof ProfiledKernel>

/** A verification at a problem other than the session's, if the run requested it. */
export const VerifiedAt = z.object({
  problem: Problem,
  /** null if there was none. */
  verify: Verify.nullable(),
  /** Why it did not pass. */
  reason: Statement.optional(),
})
export type VerifiedAt = z.infer<typeof VerifiedAt>

export const Profile = z.object({
  /** The maximum number of replay passes of any kernel of the rung. */
  passes: z.number().int(),
  /** Wall time of its launch under ncu, all passes; absent in sessions that predate it. */
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
  /** The task's flags that are enabled for the rung: its extra computations. */
  flags: z.array(z.string()),
  params: Parameters,
  /** nvcc arguments beyond the common flags, with environment variables unexpanded; absent if there are none. */
  buildWords: z.array(z.string()).optional(),
  /** Path under the session's `sources/`. */
  file: z.string(),
  /** SHA-256 of the source, hex. */
  sourceHash: z.string(),
  status: RungStatus,
  reason: Statement.optional(),
  diagnostics: z.array(Diagnostic),
  build: Build.nullable(),
  verify: Verify.nullable(),
  /** Verifications at further problems, if the run requested them. */
  alsoVerified: z.array(VerifiedAt).optional(),
  /** For a program, the wall time of the whole process. */
  timing: Timing.nullable(),
  /** Replaces a measured time on the target `predicted`; absent if the model could not predict one. */
  predicted: PredictedTime.optional(),
  /** Why the model could not predict a time. */
  notPredicted: Statement.optional(),
  /** Set for a program rung. */
  program: ProgramRun.optional(),
  /** Absent if the runner did not see them, and in sessions that predate it. */
  launches: z.array(Launch).optional(),
  /** Set for a Python rung. */
  prepared: Prepared.optional(),
  profile: Profile.nullable(),
  /** Set for kernels of imports and programs; for a program rung, over all of its launches. */
  profiledTime: ProfiledTime.optional(),
  metrics: z.record(z.string(), MetricValue),
  /** Set in an import if the rung is a single launch: all its metrics, in addition to the registry's. */
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
  /** For single launches; absent if nothing was timed. */
  cacheState: CacheState.optional(),
  profile: ProfileLevel,
  /** Absent means `single`. */
  timing: TimingWay.optional(),
  /** Rungs that were excluded from profiling, on request or because of their duration. */
  profileSkipped: z.array(Identifier).optional(),
  /** ncu's --clock-control and --cache-control; null when nothing was profiled. */
  clockControl: z.string().nullable(),
  cacheControl: z.string().nullable(),
  /** The GPU's number for nvidia-smi, on a machine with several; absent in sessions that predate it. */
  gpu: z.number().int().nonnegative().optional(),
})
type Settings = z.infer<typeof Settings>

/** The program of a session that profiled one. */
export const Program = z.object({
  /** As given, without ncu. */
  command: z.array(z.string()).nonempty(),
  /** null if a signal ended it or it was stopped. */
  exitCode: z.number().int().nullable(),
  /** The requested filters; null if there were none. */
  filters: z.object({
    kernels: z.string().nullable(),
    nvtx: z.string().nullable(),
    skip: z.number().int(),
    count: z.number().int().nullable(),
  }),
  /** All observed launches and the sum of their times; the session may have fewer rungs. */
  launches: z.number().int(),
  totalMs: z.number(),
})
export type Program = z.infer<typeof Program>

/** Where a remote run took place: the machine itself, or the node that a scheduler assigned. */
export const SessionHost = z.object({
  name: z.string(),
  /** The Slurm job number; null without a scheduler. */
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
  /** null if unknown, as for counters imported from ncu. */
  problem: Problem.nullable(),
  device: Device.nullable(),
  /** Set for a run on another machine. */
  host: SessionHost.optional(),
  /** The GPU's measured ceilings, taken before the rungs were timed; absent if not measured. */
  ceilings: Ceilings.optional(),
  /** Set for the target `predicted`. */
  prediction: PredictionSource.optional(),
  tools: Tools,
  settings: Settings,
  /** `cancelled`: stopped by the user; the session has what had finished by then. */
  completion: z.enum(['complete', 'cancelled']),
  /** Wall time of the whole run, from the request to the last counter. */
  elapsedSeconds: z.number(),
  /** Notes that the reader needs in addition to the figures: no counter permission, a source that changed since. */
  warnings: z.array(Statement),
  rungs: z.array(RungResult),
  /** Set for the target `program`. */
  program: Program.optional(),
})
export type Session = z.infer<typeof Session>

/** Whether its rungs are programs, whose times are those of whole processes. */
export const isOfPrograms = ({ rungs }: Pick<Session, 'rungs'>): boolean =>
  rungs.some(({ program }) => program !== undefined)

export const rungOf = (session: Session, id: string): RungResult | undefined =>
  findById(session.rungs, id)

/** Whether its rungs build on each other. Launches of an import and kernels of a program are independent of each other. */
export const climbs = ({ program, target }: Pick<Session, 'program' | 'target'>): boolean =>
  program === undefined && can(target).knowsRun

/**
 * Returns the rung that a rung is compared with by default: for a variant, the previous variant of the file; otherwise the rung it names,
 * or the rung above. The reference is never used, because the ratio already compares with it.
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
