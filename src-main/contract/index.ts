/**
 * The typed calls and events between a UI and the core. Every host validates incoming messages with
 * these schemas. Every client derives its types from the schemas.
 */
import { z } from 'zod'
import { Statement } from '../domain/messages/message'
import { ErrorShape, inputError, toErrorShape, schemaFault } from '../domain/errors'
import { Ladder } from '../domain/ladder/ladder'
import { ProfileCost, ProfilePlan } from '../domain/analysis/pass-plan'
import { Problem } from '../domain/task/problem'
import { Task } from '../domain/task/task'
import { Ceilings } from '../domain/gpu/ceilings'
import { historyShape } from '../domain/history/history'
import { Identifier } from '../domain/ladder/rung'
import { RungMeasured } from '../domain/analysis/rung-measured'
import { RungResult, Session } from '../domain/session/session'
import { DeletedSession, ImportAnswer, RefRequest, RenameRequest } from './sessions'
import { folderCalls } from './folders'
import { labCalls } from './labs'
import { RunRequest } from './runs'
import { Device } from '../domain/gpu/device'
import { draftCalls } from './drafts'
import { machineCalls } from './machines'
import { sanitizeCalls } from './sanitize'
import { tuningCalls } from './tunings'
import { SessionRef } from '../domain/session/session-ref'
import { SessionSummary } from '../domain/session/session-summary'
import { DeepAnswer, DeepRequest } from './deep-profiles'
import { ReportAnswer, ReportProgress, ReportRequest } from './reports'
import { nextCalls } from './next'
import { ncuReportCalls } from './ncu-reports'

export { RunRequest, SessionRef, SessionSummary }
export const RunId = z.string().regex(/^run-[A-Za-z0-9-]{1,60}$/)

export const DoctorCheck = z.object({
  id: z.enum(['gpu', 'driver', 'nvcc', 'ncu', 'counters', 'cublas', 'compute-sanitizer', 'node']),
  label: z.string(),
  status: z.enum(['ok', 'warning', 'missing', 'unknown']),
  /** Version or state of the checked tool, or a description of its problem. */
  detail: Statement,
  remedy: Statement.optional(),
})
export type DoctorCheck = z.infer<typeof DoctorCheck>

export const DoctorReport = z.object({
  checks: z.array(DoctorCheck),
  gpus: z.array(z.object({ name: z.string(), memoryTotalBytes: z.number().nullable() })),
  /** Whether this machine can build, verify and time rungs. */
  canRun: z.boolean(),
  /** Whether this machine can also read rungs' counters. */
  canProfile: z.boolean(),
})
export type DoctorReport = z.infer<typeof DoctorReport>

export const stages = ['prepare', 'build', 'measure', 'profile', 'save'] as const
export const RunStage = z.enum(stages)
export type RunStage = z.infer<typeof RunStage>

export const RunEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    ladder: Identifier,
    target: z.string(),
    /**
     * The task. Together with the problem and the GPU, the task determines which throughput is
     * shown.
     */
    task: Task.nullable(),
    /** The problem; null for a program ladder. */
    problem: Problem.nullable(),
    rungs: z.array(z.object({ id: Identifier, title: z.string() })),
  }),
  /** The GPU that runs the rungs. The event is sent again after the ceilings have been measured. */
  z.object({ type: z.literal('gpu'), device: Device, ceilings: Ceilings.nullable() }),
  /** Progress within a stage, counted in the stage's own steps. `total` is 0 while unknown. */
  z.object({
    type: z.literal('stage'),
    stage: RunStage,
    done: z.number().int(),
    total: z.number().int(),
  }),
  z.object({
    type: z.literal('rung'),
    rung: Identifier,
    stage: z.enum(['build', 'verify', 'time', 'profile']),
    state: z.enum(['running', 'done', 'failed', 'skipped']),
    detail: z.string().optional(),
  }),
  /** The current result of a rung. The event replaces the rung's previous result. */
  z.object({ type: z.literal('result'), result: RungResult }),
  /** The estimated cost of profiling, sent before it starts. */
  z.object({ type: z.literal('profile-plan'), plan: ProfilePlan }),
  /** The actual cost of profiling. */
  z.object({ type: z.literal('profile-cost'), cost: ProfileCost }),
  /**
   * Whether the connection to a remote run is up. While the connection is down, the last messages
   * are stale. Missed messages arrive after reconnecting.
   */
  z.object({ type: z.literal('link'), machine: z.string(), up: z.boolean(), at: z.iso.datetime() }),
  z.object({ type: z.literal('log'), level: z.enum(['info', 'warning']), message: Statement }),
  z.object({
    type: z.literal('finished'),
    status: z.enum(['complete', 'cancelled', 'failed']),
    session: SessionRef.nullable(),
    error: ErrorShape.optional(),
  }),
])
export type RunEvent = z.infer<typeof RunEvent>

/**
 * A message to a client: a run event with a sequence number. Sequence numbers start at 0, so
 * clients can detect gaps and duplicates.
 */
export const RunMessage = z.object({ runId: RunId, seq: z.number().int(), event: RunEvent })
export type RunMessage = z.infer<typeof RunMessage>

export const AppInfo = z.object({
  version: z.string(),
  /** `report`: an exported HTML file that contains saved sessions but no core. */
  host: z.enum(['electron', 'web', 'report']),
  /** The session that the UI opens first. */
  defaultSession: SessionRef,
  /** Whether a GPU was found. With a GPU, `local` is the default target. */
  hasGpu: z.boolean(),
  /** Whether nvcc was found. With nvcc, rungs can be built even without a GPU. */
  hasCompiler: z.boolean(),
  /** GPUs with predicted times; absent in a report. */
  predictedGpus: z.array(z.string()).optional(),
  /**
   * Whether the user has configured an editor that can open source lines on the program's machine.
   */
  hasEditor: z.boolean(),
  /** Names of the user's remote machines; absent in a report. */
  machines: z.array(z.string()).optional(),
})
export type AppInfo = z.infer<typeof AppInfo>

const call = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O) => ({ input, output })

export const calls = {
  /**
   * Opens a source line of a rung in the user's editor. The page cannot choose the editor command.
   */
  'editor.open': call(
    z.object({
      session: SessionRef,
      rung: Identifier,
      line: z.number().int().min(1).max(1_000_000_000),
    }),
    z.object({}),
  ),
  'app.info': call(z.object({}), AppInfo),
  'doctor.check': call(z.object({}), DoctorReport),
  'ladders.list': call(
    z.object({}),
    z.object({
      ladders: z.array(Ladder),
      /** Messages about ladders and rungs that cannot be read, one sentence each. */
      problems: z.array(z.string()),
    }),
  ),
  /** Returns the recorded measurements of the ladder's rungs, by rung id. */
  'ladders.measured': call(z.object({ ladder: Identifier }), z.record(z.string(), RungMeasured)),
  'sessions.list': call(z.object({}), z.array(SessionSummary)),
  /**
   * Returns a ladder's history across the store's timed sessions. Null selects the most recently
   * timed ladder.
   */
  'sessions.history': call(
    z.object({ ladder: Identifier.nullable() }),
    z.object({ ladders: z.array(Identifier), history: z.object(historyShape).nullable() }),
  ),
  'sessions.get': call(z.object({ ref: SessionRef }), Session),
  /** Returns the compiled source text by rung id. */
  'sessions.sources': call(z.object({ ref: SessionRef }), z.record(z.string(), z.string())),
  'sessions.deep': call(DeepRequest, DeepAnswer),
  'sessions.rename': call(RenameRequest, z.object({})),
  /** Moves a session to the store's trash, from which it can be restored for thirty days. */
  'sessions.delete': call(RefRequest, z.object({})),
  'sessions.restore': call(RefRequest, z.object({})),
  'sessions.deleted': call(z.object({}), z.array(DeletedSession)),
  'report.make': call(ReportRequest, ReportAnswer),
  'report.current': call(z.object({}), ReportProgress),
  'run.start': call(RunRequest, z.object({ runId: RunId })),
  'run.cancel': call(z.object({ runId: RunId }), z.object({})),
  /** Returns the current or last run with all its messages, for a UI that was reloaded. */
  'run.current': call(
    z.object({}),
    z.object({ messages: z.array(RunMessage), active: z.boolean() }),
  ),
  ...sanitizeCalls,
  ...draftCalls,
  ...folderCalls,
  ...labCalls,
  ...machineCalls,
  ...ncuReportCalls,
  ...nextCalls,
  ...tuningCalls,
} as const

export type Calls = typeof calls
export type CallName = keyof Calls
export type CallInput<N extends CallName> = z.input<Calls[N]['input']>
export type CallOutput<N extends CallName> = z.output<Calls[N]['output']>

export const isCallName = (name: string): name is CallName => Object.hasOwn(calls, name)

/** The reply to a call on every transport: a value or a typed error. */
export type Reply<T> = { ok: true; value: T } | { ok: false; error: ErrorShape }

/** The interface between the core and its hosts. */
export interface Core {
  call<N extends CallName>(name: N, input: z.output<Calls[N]['input']>): Promise<CallOutput<N>>
  /** Subscribes to run messages and returns a function that ends the subscription. */
  subscribe(listener: (message: RunMessage) => void): () => void
  /**
   * Imports a file from this machine. Only hosts can import a file by path, because a page must not
   * choose paths.
   */
  importFile(path: string): Promise<ImportAnswer>
  /** Cancels running work and waits until its process tree has ended. */
  close(): Promise<void>
}

/**
 * Validates an incoming message and returns the reply. All hosts use the same function, so no host
 * can skip validation.
 */
export async function dispatch(core: Core, name: string, input: unknown): Promise<Reply<unknown>> {
  try {
    if (!isCallName(name))
      throw inputError(`There is no call named ${JSON.stringify(name.slice(0, 60))}.`)
    const parsed = calls[name].input.safeParse(input)
    if (!parsed.success)
      throw inputError(`The message for ${name} is not valid: ${schemaFault(parsed.error)}`)
    return { ok: true, value: await core.call(name, parsed.data as never) }
  } catch (error) {
    return { ok: false, error: toErrorShape(error) }
  }
}
