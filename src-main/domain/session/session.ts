/**
 * A session: what one run built, verified, timed and profiled. Immutable; a new run makes a new one.
 * `session.json` holds this shape. Its history is in docs/SESSION-FORMAT.md.
 */
import { z } from 'zod'
import { Ceilings } from '../gpu/ceilings'
import { Device } from '../gpu/device'
import { Ladder } from '../ladder/ladder'
import { Statement } from '../messages/message'
import { MetricValue } from '../metrics/metrics'
import { ProfileLevel } from '../metrics/metric-definition'
import { Target } from '../target/targets'
import { Problem } from '../task/problem'
import { Expectation, Identifier, Parameters } from '../ladder/rung'

export const sessionSchemaVersion = 2

export const rungStatuses = ['ok', 'wrong', 'failed', 'unsupported', 'not-run'] as const
export const RungStatus = z.enum(rungStatuses)
export type RungStatus = z.infer<typeof RungStatus>

/** A compiler message at its place in a rung's source. */
export const Diagnostic = z.object({
  severity: z.enum(['error', 'warning', 'note']),
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  message: z.string(),
})
export type Diagnostic = z.infer<typeof Diagnostic>

export const Build = z.object({
  /** The highest over the rung's kernels; null where ptxas named none (a library call). */
  registersPerThread: z.number().nullable(),
  staticSharedBytes: z.number().nullable(),
  spillStoreBytes: z.number().nullable(),
  spillLoadBytes: z.number().nullable(),
  /** Wall time of nvcc when it was last called for this source. */
  seconds: z.number(),
  cached: z.boolean(),
})
export type Build = z.infer<typeof Build>

/** An element that is not as expected; null stands for NaN and infinity. */
export const Mismatch = z.object({
  /** By its name in the task. */
  buffer: z.string(),
  index: z.array(z.number().int()),
  expected: z.number().nullable(),
  actual: z.number().nullable(),
})
export type Mismatch = z.infer<typeof Mismatch>

export const Verify = z.object({
  passed: z.boolean(),
  /** The largest |error| over the scale that the task's check has of it; null when a NaN or Inf was found. */
  worstRelativeError: z.number().nullable(),
  mismatches: z.number().int(),
  firstMismatch: Mismatch.nullable(),
  /** Buffers beside which something was written, by their names in the task. */
  outOfBounds: z.array(z.string()),
  /** Buffers that it may only read, and wrote to. */
  changedInputs: z.array(z.string()),
})
export type Verify = z.infer<typeof Verify>

export const Timing = z.object({
  medianMs: z.number(),
  /** Interquartile range over the median. */
  spread: z.number(),
  samples: z.number().int(),
  samplesMs: z.array(z.number()),
  /** The 95% confidence interval of the median fell within 0.5% before the cap was met. */
  settled: z.boolean(),
  /** null where the task counts no operations. */
  gflops: z.number().nullable(),
  /** Reference time over this rung's time, both sampled in turn in one process; null without a reference. */
  ratioToReference: z.number().nullable(),
  referenceMedianMs: z.number().nullable(),
  smClockBeforeMHz: z.number().nullable(),
  smClockAfterMHz: z.number().nullable(),
})
export type Timing = z.infer<typeof Timing>

/** What ncu reported, by its own names and in its base units; the unit is empty where it is not known. */
export const NcuMetrics = z.record(
  z.string(),
  z.object({ value: z.union([z.number(), z.string(), z.null()]), unit: z.string() }),
)
export type NcuMetrics = z.infer<typeof NcuMetrics>

/** What one block of a launch holds; null where the profiler did not tell. */
export const LaunchResources = z.object({
  registersPerThread: z.number().nullable(),
  /** Shared memory that the kernel declares, and that its launch asks for on top; bytes. */
  staticSharedBytes: z.number().nullable(),
  dynamicSharedBytes: z.number().nullable(),
  barriers: z.number().nullable(),
  /** Shared memory that the SM was set to for the launch, bytes. */
  carveOutBytes: z.number().nullable(),
  /** Blocks of a cluster; 0 where the launch makes none. */
  clusterBlocks: z.number().nullable(),
})
export type LaunchResources = z.infer<typeof LaunchResources>

/** A kernel of a rung as the runner saw it launched, without a profiler. */
export const Launch = z.object({
  /** Empty where the driver does not tell it. */
  name: z.string(),
  grid: z.tuple([z.number(), z.number(), z.number()]),
  block: z.tuple([z.number(), z.number(), z.number()]),
  resources: LaunchResources,
})
export type Launch = z.infer<typeof Launch>

export const ProfiledKernel = z.object({
  name: z.string(),
  /** null in an import whose table has no such column, as an older ncu's. */
  grid: z.tuple([z.number(), z.number(), z.number()]).nullable(),
  block: z.tuple([z.number(), z.number(), z.number()]).nullable(),
  passes: z.number().int().nullable(),
  /** Absent in sessions made before it was kept, and where the profile does not tell. */
  resources: LaunchResources.optional(),
  /** In an import, where the rung has several kernels; see RungResult. */
  ncuMetrics: NcuMetrics.optional(),
})
export type ProfiledKernel = z.infer<typeof ProfiledKernel>

/** A verification at another problem than the session's, of a run that asked for it. */
export const VerifiedAt = z.object({
  problem: Problem,
  /** null where it came to none. */
  verify: Verify.nullable(),
  /** Why it did not pass. */
  reason: Statement.optional(),
})
export type VerifiedAt = z.infer<typeof VerifiedAt>

export const Profile = z.object({
  /** The most replay passes any kernel of the rung took. */
  passes: z.number().int(),
  /** Wall time of its launch under ncu, all passes; absent in sessions made before it was kept. */
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
  /** Flags of the task that are on for it: what it computes beside the rest. */
  flags: z.array(z.string()),
  params: Parameters,
  /** Path below the session's `sources/`. */
  file: z.string(),
  /** SHA-256 of the source, hex. */
  sourceHash: z.string(),
  status: RungStatus,
  reason: Statement.optional(),
  diagnostics: z.array(Diagnostic),
  build: Build.nullable(),
  verify: Verify.nullable(),
  /** Verifications at further problems, where the run asked for them. */
  alsoVerified: z.array(VerifiedAt).optional(),
  timing: Timing.nullable(),
  /** Absent where the runner did not see them, and in sessions made before it looked. */
  launches: z.array(Launch).optional(),
  profile: Profile.nullable(),
  metrics: z.record(z.string(), MetricValue),
  /** In an import, where the rung is one launch: every metric of it beside the registry's. */
  ncuMetrics: NcuMetrics.optional(),
})
export type RungResult = z.infer<typeof RungResult>

export const Tools = z.object({
  nvcc: z.string().nullable(),
  ncu: z.string().nullable(),
})
export type Tools = z.infer<typeof Tools>

export const Settings = z.object({
  nvccFlags: z.array(z.string()),
  seed: z.number().int(),
  flushL2: z.boolean(),
  profile: ProfileLevel,
  /** Rungs that were left out of profiling, on request or for their length. */
  profileSkipped: z.array(Identifier).optional(),
  /** ncu's --clock-control and --cache-control; null when nothing was profiled. */
  clockControl: z.string().nullable(),
  cacheControl: z.string().nullable(),
})
export type Settings = z.infer<typeof Settings>

export const Session = z.object({
  schema: z.literal(sessionSchemaVersion),
  id: z.string(),
  createdAt: z.iso.datetime(),
  appVersion: z.string(),
  target: Target,
  ladder: Ladder,
  /** null where it is not known, as of counters that ncu kept alone. */
  problem: Problem.nullable(),
  device: Device.nullable(),
  /** What the GPU was measured to reach before the rungs were timed; absent where it was not measured. */
  ceilings: Ceilings.optional(),
  tools: Tools,
  settings: Settings,
  /** `cancelled`: stopped by the user, with what was finished until then. */
  completion: z.enum(['complete', 'cancelled']),
  /** Wall time of the whole run, from the request to the last counter. */
  elapsedSeconds: z.number(),
  /** What a reader must know beside the figures: no counter permission, a source that changed since. */
  warnings: z.array(Statement),
  rungs: z.array(RungResult),
})
export type Session = z.infer<typeof Session>

export const rungOf = (session: Session, id: string): RungResult | undefined =>
  session.rungs.find((rung) => rung.id === id)

/**
 * The rung a rung is compared with by default: the one it names, else the one before it. Never the
 * reference: a climb begins with its first own rung, and the ratio tells how far that is from the top.
 */
export function rungBefore(session: Session, id: string): RungResult | undefined {
  const index = session.rungs.findIndex((rung) => rung.id === id)
  if (index < 0) return undefined
  const { after } = session.rungs[index] ?? {}
  const before = (after ? rungOf(session, after) : undefined) ?? session.rungs[index - 1]
  return before && before.id !== session.ladder.reference ? before : undefined
}
