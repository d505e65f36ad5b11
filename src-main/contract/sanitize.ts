/** Calls about compute-sanitizer. One job runs at a time, and clients poll its state. */
import { z } from 'zod'
import { Identifier, Parameters } from '../domain/ladder/rung'
import { SanitizeTarget } from '../domain/targets/targets'
import { ErrorShape } from '../domain/errors'
import { Statement } from '../domain/messages/message'
import { SanitizeReport, SanitizerTool, sanitizerTools } from '../domain/session/sanitizer'
import { At } from '../domain/task/problem-request'
import { LadderName } from './runs'

export const SanitizeRequest = z.object({
  ladder: LadderName,
  /** Rung ids; all rungs except the reference by default. */
  rungs: z.array(Identifier).min(1).optional(),
  tools: z
    .array(SanitizerTool)
    .min(1)
    .default([...sanitizerTools]),
  /**
   * One value for all sizes of the ladder's task. The default is the task's small ragged shape,
   * unless `at` has sizes.
   */
  size: z.number().int().optional(),
  /** The task's sizes, scalars and options by name. Missing values come from the ladder. */
  at: At.optional(),
  params: Parameters.default({}),
  /** The job's target; this machine's GPU by default. */
  target: SanitizeTarget.optional(),
})

export type SanitizeRequest = z.infer<typeof SanitizeRequest>

export const SanitizeProgress = z.object({
  stage: z.enum(['prepare', 'build', 'check']),
  /** Number of completed steps in the stage. `total` is 0 while unknown. */
  done: z.number().int(),
  total: z.number().int(),
  tool: SanitizerTool.nullable(),
  rung: Identifier.nullable(),
  /** One sentence that explains why the job is waiting. */
  notice: Statement.optional(),
})

export type SanitizeProgress = z.infer<typeof SanitizeProgress>

/** State of the current or last job. The state is `idle` before the first job. */
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
