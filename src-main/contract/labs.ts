/** Labs: what a student sees of one, and what the core keeps of the work on it. */
import { z } from 'zod'
import { LabCheck, LabFile, LabSource } from '../domain/labs/lab'
import { Statement } from '../domain/messages/message'
import { LabAnswers, LabOutcome } from '../domain/labs/outcome'
import { LabTarget } from '../domain/target/targets'
import { Sizes } from '../domain/task/problem'
import { Identifier } from '../domain/ladder/rung'

/** A shipped lab by its id, or `own:<id>`, a lab from elsewhere that was added. */
export const LabRef = z.string().regex(/^(own:)?[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/)
export const AttemptId = z.string().regex(/^\d{8}-\d{6}-[0-9a-f]{4}(-\d{1,3})?$/)
const Source = z.string().max(1024 * 1024)

export const LabSummary = z.object({
  ref: LabRef,
  id: Identifier,
  title: z.string(),
  summary: z.string(),
  minutes: z.number(),
  needs: z.array(Identifier),
  /** Some of its checks ask for counters. */
  counters: z.boolean(),
  trusted: z.boolean(),
  progress: z.enum(['new', 'started', 'passed']),
  attempts: z.number().int(),
  /** Of the last attempt. */
  lastAt: z.string().nullable(),
})
export type LabSummary = z.infer<typeof LabSummary>

/** The code of a lab whose outcome can ship. */
export const recordable = ['starter', 'solution'] as const
/** Whose code was checked: the lab's, to the letter, or another. */
export const LabCode = z.enum([...recordable, 'own'])
export type LabCode = z.infer<typeof LabCode>

/** An outcome that ships, for the check `recorded`; `gpu` is the name of the one it was measured on. */
export const RecordedOutcome = z.object({ which: z.enum(recordable), gpu: z.string() })
export type RecordedOutcome = z.infer<typeof RecordedOutcome>

export const AttemptSummary = z.object({
  id: AttemptId,
  createdAt: z.string(),
  code: LabCode,
  status: LabOutcome.shape.status,
  checksPassed: z.number().int(),
  checks: z.number().int(),
  target: LabOutcome.shape.target,
  timeMs: z.number().nullable(),
  /** The session behind it; null where nothing was measured. */
  session: z.string().nullable(),
})
export type AttemptSummary = z.infer<typeof AttemptSummary>

/** Without what the student has not reached: hints, answers, the solution. */
export const LabView = LabFile.pick({
  title: true,
  summary: true,
  minutes: true,
  before: true,
  target: true,
  options: true,
}).extend({
  ref: LabRef,
  id: Identifier,
  size: Sizes,
  /** Markdown. */
  body: z.string(),
  /** `data:` URIs by the path that the text names. */
  pictures: z.record(z.string(), z.string()),
  checks: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(LabCheck.options.map((option) => option.shape.kind.value)),
      title: Statement,
    }),
  ),
  predictions: z.array(
    z.object({
      id: z.string(),
      metric: z.string(),
      label: Statement,
      against: z.string(),
      ask: z.string(),
      factor: z.boolean(),
      tolerance: z.number(),
    }),
  ),
  questions: z.array(
    z.object({ id: z.string(), ask: z.string(), unit: z.string(), explain: z.string().nullable() }),
  ),
  source: LabSource.nullable(),
  /** Shown once predictions are sealed. */
  surprise: z.string().nullable(),
  starter: z.string(),
  draft: z.string(),
  answers: LabAnswers,
  /** Something that is not the starter was measured, so predictions are no longer such; a reset opens them. */
  predictionsSealed: z.boolean(),
  hints: z.object({ total: z.number().int(), shown: z.array(z.string()) }),
  solution: z.string().nullable(),
  /** How often it was asked for; given after passing, or when asked twice. */
  solutionAsked: z.number().int(),
  recorded: z.array(RecordedOutcome),
  /** Oldest first. */
  attempts: z.array(AttemptSummary),
  trusted: z.boolean(),
  contentHash: z.string(),
  /** Every file in full, where it is still to be decided whether the lab is trusted. */
  files: z.array(z.object({ path: z.string(), text: z.string() })),
  folder: z.string().nullable(),
})
export type LabView = z.infer<typeof LabView>

export const LabBuildReport = LabOutcome.shape.build.extend({
  /** false: there is no GPU here, and it was compiled for the one of the recordings. */
  ownGpu: z.boolean(),
})
export type LabBuildReport = z.infer<typeof LabBuildReport>

const one = z.object({ ref: LabRef })
const none = z.object({})

export const labCalls = {
  'labs.list': {
    input: none,
    output: z.object({ labs: z.array(LabSummary), problems: z.array(Statement) }),
  },
  'labs.get': { input: one, output: LabView },
  /** Keeps a draft and the answers; what is absent stays as it was. */
  'labs.save': {
    input: one.extend({ source: Source.optional(), answers: LabAnswers.optional() }),
    output: none,
  },
  /** One more hint; all that are shown. */
  'labs.hint': { input: one, output: z.object({ shown: z.array(z.string()) }) },
  'labs.solution': {
    input: one,
    output: z.object({ asked: z.number().int(), solution: z.string().nullable() }),
  },
  /** Draft and answers begin anew; the attempts stay. */
  'labs.reset': { input: one, output: none },
  'labs.build': { input: one.extend({ source: Source }), output: LabBuildReport },
  /** Goes on as a run: its events, its cancelling, its end with the session; the attempt is then in the view. */
  'labs.check': {
    input: one.extend({ source: Source, target: LabTarget }),
    output: z.object({ runId: z.string() }),
  },
  'labs.attempt': {
    input: one.extend({ id: AttemptId }),
    output: z.object({ outcome: LabOutcome, answers: LabAnswers, source: z.string() }),
  },
  /** A lab from elsewhere joins the list; nothing of it is built or run yet. */
  'labs.add': { input: z.object({ folder: z.string().min(1).max(4096) }), output: one },
  /** The user has seen these files and wants them used. */
  'labs.trust': { input: one.extend({ contentHash: z.string() }), output: none },
} as const
