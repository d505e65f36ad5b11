/** Requests for runs from every host: of rungs, of compute-sanitizer, finished sweeps, and the other machines that runs can be sent to. */
import { z } from 'zod'
import { DraftId, Identifier, Parameters } from '../domain/ladder/rung'
import { ProfileLevel } from '../domain/metrics/metric-definition'
import { CacheState, TimingWay } from '../domain/session/session'
import { TargetText, SanitizeTarget } from '../domain/target/targets'
import { At } from '../domain/task/problem'
import { ErrorShape } from '../domain/errors'
import { SlurmOptions } from '../domain/machines/machine-file'
import { Statement } from '../domain/messages/message'
import { KeptTuning, ListedTuning, TuningId } from '../domain/tune/report'
import { SanitizeReport, SanitizerTool, sanitizerTools } from '../domain/session/sanitizer'

/** A ladder as named in a request: the id of a shipped one, or the path of a ladder folder. */
export const LadderName = z.string().min(1).max(4096)

// The request for a run, from every host.

/** No machine has so many. */
export const GpuNumber = z.number().int().min(0).max(255)

export const RunRequest = z.object({
  ladder: LadderName,
  /** Rung ids; by default all rungs of the ladder. The reference always runs with them. */
  rungs: z.array(Identifier).min(1).optional(),
  /** One value for all sizes of the ladder's task. */
  size: z.number().int().optional(),
  /** Sizes, scalars and options by name; the ladder's by default. */
  at: At.optional(),
  params: Parameters.default({}),
  target: TargetText,
  profile: ProfileLevel.default('card'),
  /** What is timed besides single launches: bursts take about six seconds per rung, sustained launches three. */
  timing: TimingWay.optional(),
  /** What L2 holds when a launch is timed; cold by default. */
  cacheState: CacheState.extract(['cold', 'warm']).optional(),
  /** Which of this machine's GPUs, counting from 0 among those that are visible; CUDA's first by default. */
  gpu: GpuNumber.optional(),
  /** An edited copy, run as a rung after its original. */
  draft: DraftId.optional(),
  /** Rungs to measure but not to profile. */
  profileSkip: z.array(Identifier).optional(),
  /** Rungs whose profiling is expected to take longer are not profiled; seconds. */
  profileLimitSeconds: z.number().positive().optional(),
})
export type RunRequest = z.infer<typeof RunRequest>

// The calls about other machines that runs can be sent to.

const Name = z.string().min(1).max(40)
const Host = z.string().min(1).max(255)

export const ListedMachine = z.object({
  name: Name,
  /** The host as after `ssh`; null for Slurm on this machine. */
  ssh: z.string().nullable(),
  /** Options of sbatch, as one text; null without Slurm. */
  slurm: z.string().nullable(),
})
export type ListedMachine = z.infer<typeof ListedMachine>

/** Where ssh would connect to, and the key that the host shows. */
export const LookedAtHost = z.object({
  hostname: z.string(),
  user: z.string(),
  port: z.string(),
  /** `ssh-ed25519 SHA256:…`; null if the connection ended before it. */
  fingerprint: z.string().nullable(),
  /** ssh trusts the key already. */
  known: z.boolean(),
})
export type LookedAtHost = z.infer<typeof LookedAtHost>

export const machineCalls = {
  'machines.list': {
    input: z.object({}),
    /** `error`: machines.yaml has a fault. */
    output: z.object({ machines: z.array(ListedMachine), error: ErrorShape.nullable() }),
  },
  /** Whether it can be reached now, without sending anything there. */
  'machines.check': {
    input: z.object({ name: Name }),
    output: z.object({ error: ErrorShape.nullable() }),
  },
  'machines.look': { input: z.object({ host: Host }), output: LookedAtHost },
  /** `fingerprint` is the one that the user saw and trusts; null for a host whose key is known. */
  'machines.add': {
    input: z.object({
      name: z.string().max(200),
      host: Host,
      slurm: SlurmOptions.partial().nullable(),
      fingerprint: z.string().nullable(),
    }),
    output: z.object({}),
  },
} as const

// Running compute-sanitizer on rungs: one job at a time, observed by polling.

export const SanitizeRequest = z.object({
  ladder: LadderName,
  /** Rung ids; by default all but the reference. */
  rungs: z.array(Identifier).min(1).optional(),
  tools: z
    .array(SanitizerTool)
    .min(1)
    .default([...sanitizerTools]),
  /** Every size of the ladder's task; by default, without sizes in `at`, its small ragged shape. */
  size: z.number().int().optional(),
  /** Its sizes, scalars and options by name; by default the ladder's. */
  at: At.optional(),
  params: Parameters.default({}),
  /** This machine's GPU by default. */
  target: SanitizeTarget.optional(),
})
export type SanitizeRequest = z.infer<typeof SanitizeRequest>

export const SanitizeProgress = z.object({
  stage: z.enum(['prepare', 'build', 'check']),
  /** In the stage's own steps; total is 0 while unknown. */
  done: z.number().int(),
  total: z.number().int(),
  tool: SanitizerTool.nullable(),
  rung: Identifier.nullable(),
  /** Why it is currently waiting, as a sentence. */
  notice: Statement.optional(),
})
export type SanitizeProgress = z.infer<typeof SanitizeProgress>

/** The current or last job; `idle` before the first. */
export const SanitizeState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('idle') }),
  z.object({
    state: z.literal('running'),
    request: SanitizeRequest,
    progress: SanitizeProgress,
  }),
  z.object({ state: z.literal('done'), request: SanitizeRequest, report: SanitizeReport }),
  z.object({ state: z.literal('failed'), request: SanitizeRequest, error: ErrorShape }),
])
export type SanitizeState = z.infer<typeof SanitizeState>

export const sanitizeCalls = {
  'sanitize.start': { input: SanitizeRequest, output: z.object({}) },
  'sanitize.cancel': { input: z.object({}), output: z.object({}) },
  'sanitize.current': { input: z.object({}), output: SanitizeState },
} as const

// Finished sweeps of a rung's parameters.

const OfTuning = z.object({ id: TuningId })

export const tuningCalls = {
  'tunings.list': { input: z.object({}), output: z.object({ tunings: z.array(ListedTuning) }) },
  'tunings.get': { input: OfTuning, output: KeptTuning },
  /** Adds the winner to the user's own ladder folder, as a variant after its rung. */
  'tunings.apply': {
    input: OfTuning,
    output: z.object({ variant: Identifier, folder: z.string() }),
  },
} as const
