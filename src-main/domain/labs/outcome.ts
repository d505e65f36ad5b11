/**
 * The outcome of one attempt at a lab. It has figures and a sentence for every check, prediction,
 * and question.
 */
import { z } from 'zod'
import { LabCheck, predictionDirections } from './lab'
import { says, Statement } from '../messages/message'
import { MetricValue } from '../metrics/metrics'
import { Build, CacheState, Diagnostic } from '../session/session'
import { can, Target } from '../targets/targets'

export const Direction = z.enum(predictionDirections)
export type Direction = z.infer<typeof Direction>

/**
 * The student's prediction. `factor` is the predicted ratio of the new value to the old value, or
 * null if the factor was not predicted.
 */
export const PredictionGiven = z.object({
  direction: Direction,
  factor: z.number().positive().nullable().default(null),
})
export type PredictionGiven = z.infer<typeof PredictionGiven>

export const LabAnswers = z.object({
  /** Predictions by prediction id. */
  predictions: z.record(z.string(), PredictionGiven).default({}),
  /** Answers by question id. */
  questions: z.record(z.string(), z.number()).default({}),
})
export type LabAnswers = z.infer<typeof LabAnswers>

/** Changed answers. Null removes an answer. */
export const LabAnswersChange = z.object({
  predictions: z.record(z.string(), PredictionGiven.nullable()).optional(),
  questions: z.record(z.string(), z.number().nullable()).optional(),
})
export type LabAnswersChange = z.infer<typeof LabAnswersChange>

const changed = <T>(old: Record<string, T>, change: Record<string, T | null>): Record<string, T> =>
  Object.fromEntries(
    Object.entries({ ...old, ...change }).flatMap(([id, value]) =>
      value === null ? [] : [[id, value]],
    ),
  )

export const changeAnswers = (answers: LabAnswers, change: LabAnswersChange): LabAnswers => ({
  predictions: changed(answers.predictions, change.predictions ?? {}),
  questions: changed(answers.questions, change.questions ?? {}),
})

export const noAnswers: LabAnswers = { predictions: {}, questions: {} }

const LabFigure = z.object({ label: Statement, value: MetricValue })
export type LabFigure = z.infer<typeof LabFigure>

/**
 * Check statuses. `unavailable` means that the check could not run; the check's sentence explains
 * why. An unavailable check never passes.
 */
export const checkStatuses = ['passed', 'failed', 'unavailable'] as const

export const CheckResult = z.object({
  id: z.string(),
  kind: z.enum(LabCheck.options.map((option) => option.shape.kind.value)),
  title: Statement,
  status: z.enum(checkStatuses),
  sentence: Statement,
  figures: z.array(LabFigure),
})
export type CheckResult = z.infer<typeof CheckResult>

export const PredictionResult = z.object({
  id: z.string(),
  metric: z.string(),
  label: Statement,
  against: z.string(),
  given: PredictionGiven.nullable(),
  before: MetricValue,
  after: MetricValue,
  /** New value divided by the old value. Null if either value is unknown or the old value is 0. */
  factor: z.number().nullable(),
  direction: Direction.nullable(),
  status: z.enum(['met', 'missed', 'not-given', 'unavailable']),
  sentence: Statement,
  /** An explanation derived from this attempt's counters. */
  explanation: z.array(Statement),
})
export type PredictionResult = z.infer<typeof PredictionResult>

export const QuestionResult = z.object({
  id: z.string(),
  unit: z.string(),
  given: z.number().nullable(),
  answer: z.number().nullable(),
  status: z.enum(['right', 'wrong', 'not-given', 'unavailable']),
  sentence: Statement,
})
export type QuestionResult = z.infer<typeof QuestionResult>

const OccupancyAt = z.object({ threads: z.number().int(), percent: z.number() })

export const labOutcomeVersion = 2

export const LabOutcome = z.object({
  schema: z.literal(labOutcomeVersion),
  lab: z.string(),
  title: z.string(),
  createdAt: z.iso.datetime(),
  /**
   * Overall status; `outcomeStatus` defines `passed`. `unavailable` means that no check failed, but
   * too few checks could run on this target.
   */
  status: z.enum(['passed', 'failed', 'unavailable']),
  target: Target,
  /** The GPU; null if none was available. */
  device: z.object({ name: z.string(), computeCapability: z.string() }).nullable(),
  /**
   * L2 state when the attempt was timed. Null if the attempt was not timed; absent in older
   * outcomes.
   */
  cacheState: CacheState.nullable().optional(),
  /** Reason why part of the attempt could not be measured; null if all of it was measured. */
  reason: Statement.nullable(),
  /** SHA-256 of the submission in hex. */
  sourceHash: z.string(),
  build: z.object({
    ok: z.boolean(),
    /** Target architecture, such as `sm_90`; null if the submission was not built. */
    architecture: z.string().nullable(),
    reason: Statement.nullable(),
    resources: Build.nullable(),
    diagnostics: z.array(Diagnostic),
    /** Occupancy at several block sizes, computed from registers and static shared memory. */
    occupancy: z.array(OccupancyAt),
  }),
  checks: z.array(CheckResult),
  predictions: z.array(PredictionResult),
  questions: z.array(QuestionResult),
})
export type LabOutcome = z.infer<typeof LabOutcome>

/**
 * Returns the overall status of all checks. On targets that have no times, time checks are not
 * required. On such targets, a submission passes if all correctness and sanitizer checks and at
 * least one counter or predicted-time check passed. If the lab lists the checks that its starter
 * fails, the counter or time check must be in that list.
 */
export function outcomeStatus(
  checks: readonly CheckResult[],
  { times }: { times: boolean },
  /** Ids of the checks that the starter fails, if the lab lists them. */
  telling: readonly string[] = [],
): LabOutcome['status'] {
  if (checks.some(({ status }) => status === 'failed')) return 'failed'
  if (checks.every(({ status }) => status === 'passed')) return 'passed'
  const all = (kind: CheckResult['kind']) => checks.filter((check) => check.kind === kind)
  const judged = [...all('metric'), ...all('time')].some(
    ({ id, status }) => status === 'passed' && (telling.length === 0 || telling.includes(id)),
  )
  const right = all('correctness').every(({ status }) => status === 'passed')
  const checked = all('sanitizer').every(({ status }) => status === 'passed')
  return !times && judged && right && checked ? 'passed' : 'unavailable'
}

/**
 * Returns the checks that could not be judged, except time checks on targets that have no times.
 */
export const unjudged = ({
  checks,
  target,
}: Pick<LabOutcome, 'checks' | 'target'>): CheckResult[] =>
  checks.filter(
    ({ kind, status }) => status === 'unavailable' && (kind !== 'time' || can(target).times),
  )

/**
 * Returns whether the outcome completes the lab. On an emulated GPU, every check except time checks
 * must have been judged. A replay never completes a lab, because it shows another person's
 * measurement.
 */
export const completesLab = (outcome: Pick<LabOutcome, 'status' | 'checks' | 'target'>): boolean =>
  outcome.status === 'passed' && !can(outcome.target).replays && unjudged(outcome).length === 0

/** Returns the exit code of `lab check`: 0 passed, 1 not passed yet, 3 cannot be checked here. */
export const outcomeExitCode = ({ status }: Pick<LabOutcome, 'status'>): 0 | 1 | 3 =>
  status === 'passed' ? 0 : status === 'failed' ? 1 : 3

/** Returns the submission's time, or null if no check measured the time. */
export const outcomeTimeMs = ({ checks }: Pick<LabOutcome, 'checks'>): number | null =>
  checks
    .find(({ kind }) => kind === 'time')
    ?.figures.find(({ label }) => says(label, 'figures.time'))?.value.value ?? null
