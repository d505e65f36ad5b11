/**
 * A session: what one run built, verified, timed and profiled. Immutable; a new run makes a new one.
 * `session.json` holds this shape. Its history is in docs/SESSION-FORMAT.md.
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
/** An element of a result; JSON has neither infinities nor NaN, which is null. */
/** Strings are infinities, integers beyond 2^53, and NaN with its bits where an exact check compares them. */
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
 * What L2 held when a launch was timed. `cold`: no line of the rung's buffers and none that had yet to be written back;
 * `warm`: whatever the launch before it left. Only upgraded and imported sessions have the others: `cold-dirty` (filled
 * with lines that had yet to be written back) and `unknown`.
 */
const cacheStates = ['cold', 'warm', 'cold-dirty', 'unknown'] as const
export const CacheState = z.enum(cacheStates)
export type CacheState = z.infer<typeof CacheState>

/** Of bursts: launches in a row on a GPU that has rested. Clocks are higher there than between single launches by turns. */
export const BurstTiming = z.object({
  cacheState: CacheState,
  /** Of one burst. */
  launches: z.number().int().positive(),
  /** Without work before each burst. */
  restSeconds: z.number().nonnegative(),
  /** Of a launch: the burst's time over its launches. */
  medianMs: z.number(),
  samplesMs: z.array(z.number()),
  gflops: z.number().nullable(),
  /** To bursts of the reference, by turns with the rung's; null without a reference. */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
})
export type BurstTiming = z.infer<typeof BurstTiming>

/**
 * Of one rung alone, launch after launch for seconds: its clock is the one that its own power allows. Taken after a
 * second of the same work.
 */
export const SustainedTiming = z.object({
  cacheState: CacheState,
  seconds: z.number().positive(),
  /** Of a launch: the time of a row of launches over their number. */
  medianMs: z.number(),
  /** Interquartile range over the median. */
  spread: z.number(),
  gflops: z.number().nullable(),
  /** To the reference's own sustained time; null without one. */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
  /** Medians over these seconds; null where the driver does not report them. */
  smClockMHz: z.number().nullable(),
  powerW: z.number().nullable(),
  gpu: GpuState,
})
export type SustainedTiming = z.infer<typeof SustainedTiming>

/** What is timed besides single launches. `all`: bursts and sustained launches. */
export const timingWays = ['single', 'burst', 'sustained', 'all'] as const
export const TimingWay = z.enum(timingWays)
export type TimingWay = z.infer<typeof TimingWay>

/** Of single launches, interleaved with the reference's; `burst` and `sustained` have the other ways of timing. */
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
  /** Between two events with nothing between them: the part of a time that is no kernel's. */
  emptyMs: z.number().nullable().optional(),
  /** The time in which the GPU worked on a launch, from CUPTI's activity records; null where CUPTI is missing. */
  gpuMs: z.number().nullable().optional(),
  /** SM clock during the samples, and during the reference's beside them, from cycles; null for short launches. */
  clockMHz: z.number().nullable().optional(),
  referenceClockMHz: z.number().nullable().optional(),
  smClockBeforeMHz: z.number().nullable(),
  smClockAfterMHz: z.number().nullable(),
  /** Of the GPU while this was timed; absent in sessions that predate it. */
  gpu: GpuState.optional(),
  /** If the run asked for them. */
  burst: BurstTiming.optional(),
  sustained: SustainedTiming.optional(),
})
export type Timing = z.infer<typeof Timing>

/**
 * How long a kernel took under a profiler. ncu runs every launch by itself, with the caches and clocks that `settings`
 * names; CUPTI times it as the program launched it, also beside others. Neither is a runner's time, and no two of the
 * three are compared.
 */
export const ProfiledTime = z.object({
  /** Absent: ncu. */
  timer: z.literal('cupti').optional(),
  /** How often it was launched; 1 for the kernels of one NVTX range, which are summed. */
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

/** What ncu reported, by its own names and in its base units; the unit is empty if unknown. */
export const NcuMetrics = z.record(
  z.string(),
  z.object({
    value: z.union([z.number(), z.string(), z.null()]),
    unit: z.string(),
    /** Where it has no value: the NaN or infinity that ncu reported. */
    reported: z.string().optional(),
  }),
)
export type NcuMetrics = z.infer<typeof NcuMetrics>

/** The resources of one block of a launch; null if the profiler did not report them. */
export const LaunchResources = z.object({
  registersPerThread: z.number().nullable(),
  /** Shared memory that the kernel declares, and that its launch requests in addition; bytes. */
  staticSharedBytes: z.number().nullable(),
  dynamicSharedBytes: z.number().nullable(),
  barriers: z.number().nullable(),
  /** Shared memory that the SM was configured with for the launch, bytes. */
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

/** What a rung compiled in the runner's process, before it was verified and timed. */
export const Prepared = z.object({
  /** Importing its packages' kernels, compiling, and its first launches. */
  seconds: z.number(),
  /** `Python 3.12.3, torch 2.11.0`; null if it does not say. */
  with: z.string().nullable(),
})
export type Prepared = z.infer<typeof Prepared>

/** One run of a rung that is a program. */
export const ProgramRun = z.object({
  /** As the ladder has it, word by word. */
  command: z.array(z.string()).min(1),
  /** null if a signal ended it, or if it was stopped. */
  exitCode: z.number().int().nullable(),
  /** What it wrote, where the ladder names a file. */
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
  /** Absent in sessions that predate it, and if the profile does not contain it. */
  resources: LaunchResources.optional(),
  /** All launches of it, where the rung is a program. */
  profiledTime: ProfiledTime.optional(),
  /** In an import, if the rung has several kernels; see RungResult. */
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
  /** Flags of the task that are on for it: its extra computations. */
  flags: z.array(z.string()),
  params: Parameters,
  /** What nvcc was given besides the flags of every rung, with environment variables by name; absent if nothing. */
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
  /** Of a program: the wall time of the whole process. */
  timing: Timing.nullable(),
  /** In place of a measured time, on the target `predicted`; absent if the model could say nothing. */
  predicted: PredictedTime.optional(),
  /** Why the model could say nothing. */
  notPredicted: Statement.optional(),
  /** Of a rung that is a program. */
  program: ProgramRun.optional(),
  /** Absent if the runner did not see them, and in sessions that predate it. */
  launches: z.array(Launch).optional(),
  /** Of a rung in Python. */
  prepared: Prepared.optional(),
  profile: Profile.nullable(),
  /** Of kernels in imports and in sessions of a program; of a rung that is a program, all of its launches. */
  profiledTime: ProfiledTime.optional(),
  metrics: z.record(z.string(), MetricValue),
  /** In an import, if the rung is a single launch: all its metrics, in addition to the registry's. */
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
  /** Of single launches; absent where nothing was timed. */
  cacheState: CacheState.optional(),
  profile: ProfileLevel,
  /** `single` if absent. */
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
  /** As it was given, without ncu. */
  command: z.array(z.string()).nonempty(),
  /** null if a signal ended it, or if it was stopped. */
  exitCode: z.number().int().nullable(),
  /** What was asked for; null where nothing was. */
  filters: z.object({
    kernels: z.string().nullable(),
    nvtx: z.string().nullable(),
    skip: z.number().int(),
    count: z.number().int().nullable(),
  }),
  /** All launches that were seen, and the sum of their times; the rungs may be fewer. */
  launches: z.number().int(),
  totalMs: z.number(),
})
export type Program = z.infer<typeof Program>

/** Where a run on another machine was: the machine itself, or the node that a scheduler gave it. */
export const SessionHost = z.object({
  name: z.string(),
  /** The job's number in Slurm; null without a scheduler. */
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
  /** Of a run on another machine; absent for one here. */
  host: SessionHost.optional(),
  /** The GPU's measured ceilings, taken before the rungs were timed; absent if not measured. */
  ceilings: Ceilings.optional(),
  /** Of a session with the target `predicted`. */
  prediction: PredictionSource.optional(),
  tools: Tools,
  settings: Settings,
  /** `cancelled`: stopped by the user, with what had finished by then. */
  completion: z.enum(['complete', 'cancelled']),
  /** Wall time of the whole run, from the request to the last counter. */
  elapsedSeconds: z.number(),
  /** What the reader should know in addition to the figures: no counter permission, a source that changed since. */
  warnings: z.array(Statement),
  rungs: z.array(RungResult),
  /** Of a session with the target `program`. */
  program: Program.optional(),
})
export type Session = z.infer<typeof Session>

/** Whether its rungs are programs, so that times are of whole processes. */
export const isOfPrograms = ({ rungs }: Pick<Session, 'rungs'>): boolean =>
  rungs.some(({ program }) => program !== undefined)

export const rungOf = (session: Session, id: string): RungResult | undefined =>
  findById(session.rungs, id)

/** Whether its rungs build on each other. Launches of an import and kernels of a program do work of their own. */
export const climbs = ({ program, target }: Pick<Session, 'program' | 'target'>): boolean =>
  program === undefined && can(target).knowsRun

/**
 * The rung that a rung is compared with by default: for a variant of a file the one before it, else the one it names, else the one
 * above. Never the
 * reference: a ladder begins with its first rung, and the ratio says how far that is from the reference.
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
