/** Calls and data for labs: the student's view of a lab, and the student's saved work. */
import { CacheState } from '../domain/session/session'
import { z } from 'zod'
import { LabCheck, LabFile, LabSource } from '../domain/labs/lab'
import { Statement } from '../domain/messages/message'
import { LabAnswers, LabAnswersChange, LabOutcome } from '../domain/labs/outcome'
import { LabTarget } from '../domain/targets/targets'
import { Sizes } from '../domain/task/problem'
import { Identifier } from '../domain/ladder/rung'

/**
 * A lab reference: the id of a built-in lab, or `own:<id>` for a third-party lab that the user
 * added.
 */
const LabRef = z.string().regex(/^(own:)?[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/)
const AttemptId = z.string().regex(/^\d{8}-\d{6}-[0-9a-f]{4}(-\d{1,3})?$/)
const Source = z.string().max(1024 * 1024)

/** The user's progress in a lab. */
export const LabStanding = z.object({
  progress: z.enum(['new', 'started', 'passed']),
  /** Whether the lab was passed only on an emulated GPU, which cannot judge times. */
  emulatedOnly: z.boolean(),
  attempts: z.number().int(),
  /** Time of the last attempt. */
  lastAt: z.string().nullable(),
})
export type LabStanding = z.infer<typeof LabStanding>

export const LabSummary = z.object({
  ref: LabRef,
  id: Identifier,
  title: z.string(),
  summary: z.string(),
  minutes: z.number(),
  needs: z.array(Identifier),
  /** Whether any check of the lab needs counters. */
  counters: z.boolean(),
  trusted: z.boolean(),
  ...LabStanding.shape,
})
export type LabSummary = z.infer<typeof LabSummary>

/** Lab files that can have recorded outcomes. */
export const recordable = ['starter', 'solution'] as const
/** The checked code: an unchanged lab file, or the student's own code. */
export const LabCode = z.enum([...recordable, 'own'])
export type LabCode = z.infer<typeof LabCode>

/**
 * A built-in outcome for the target `recorded`. `gpu` names the GPU that the outcome was measured
 * on.
 */
export const RecordedOutcome = z.object({ which: z.enum(recordable), gpu: z.string() })
export type RecordedOutcome = z.infer<typeof RecordedOutcome>

export const AttemptSummary = z.object({
  id: AttemptId,
  createdAt: z.string(),
  code: LabCode,
  status: LabOutcome.shape.status,
  /** Whether this attempt completes the lab. */
  completes: z.boolean(),
  checksPassed: z.number().int(),
  checks: z.number().int(),
  target: LabOutcome.shape.target,
  timeMs: z.number().nullable(),
  /** L2 state when the attempt was timed; null if the attempt was not timed. */
  cacheState: CacheState.nullable(),
  /** Reference of the attempt's session; null if nothing was measured. */
  session: z.string().nullable(),
})
export type AttemptSummary = z.infer<typeof AttemptSummary>

/** A lab as shown to the student. Hints, answers and the solution are absent until unlocked. */
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
  /** The lab's text as Markdown. */
  body: z.string(),
  /** Pictures as `data:` URIs. Each key is the path of a picture in the text. */
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
  /** Text that is shown after the predictions are locked. */
  surprise: z.string().nullable(),
  starter: z.string(),
  draft: z.string(),
  /** Time when the draft was last saved; null if there is no saved draft. */
  draftAt: z.string().nullable(),
  answers: LabAnswers,
  /**
   * Whether any code other than the starter has been measured. Measuring changed code locks the
   * predictions until a reset.
   */
  predictionsSealed: z.boolean(),
  hints: z.object({ total: z.number().int(), shown: z.array(z.string()) }),
  solution: z.string().nullable(),
  /**
   * Number of times the student has requested the solution. The solution is shown after passing or
   * on the second request.
   */
  solutionAsked: z.number().int(),
  recorded: z.array(RecordedOutcome),
  /** All attempts, oldest first. */
  attempts: z.array(AttemptSummary),
  trusted: z.boolean(),
  contentHash: z.string(),
  /** Full text of every file for review. The list is empty after the user has trusted the lab. */
  files: z.array(z.object({ path: z.string(), text: z.string() })),
  folder: z.string().nullable(),
})
export type LabView = z.infer<typeof LabView>

export const LabBuildReport = LabOutcome.shape.build.extend({
  /**
   * Whether the code was compiled for this machine's GPU. Without a GPU, the code is compiled for
   * the GPU that the built-in recordings were made on.
   */
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
  /**
   * Saves the draft, some answers, or both. `replaces` is the version that the edit started from.
   * If another version was saved in the meantime, the draft is not saved and `other` is the saved
   * version.
   */
  'labs.save': {
    input: one.extend({
      draft: z.object({ source: Source, replaces: z.string().nullable() }).optional(),
      answers: LabAnswersChange.optional(),
    }),
    output: z.object({ draftAt: z.string().nullable(), other: z.string().nullable() }),
  },
  /** Reveals one more hint and returns all revealed hints. */
  'labs.hint': { input: one, output: z.object({ shown: z.array(z.string()) }) },
  'labs.solution': {
    input: one,
    output: z.object({ asked: z.number().int(), solution: z.string().nullable() }),
  },
  /** Resets the draft and the answers. Attempts are kept. */
  'labs.reset': { input: one, output: none },
  'labs.build': { input: one.extend({ source: Source }), output: LabBuildReport },
  /**
   * Runs the lab's checks as a normal run with events, cancellation and a session. After the
   * checks, the student's view includes the attempt. The check does not change the student's draft.
   */
  'labs.check': {
    input: one.extend({ source: Source, target: LabTarget }),
    output: z.object({ runId: z.string() }),
  },
  'labs.attempt': {
    input: one.extend({ id: AttemptId }),
    output: z.object({ outcome: LabOutcome, answers: LabAnswers, source: z.string() }),
  },
  /** Adds a third-party lab to the list without building or running anything. */
  'labs.add': { input: z.object({ folder: z.string().min(1).max(4096) }), output: one },
  /** Records that the user has reviewed these files and allows their use. */
  'labs.trust': { input: one.extend({ contentHash: z.string() }), output: none },
} as const
