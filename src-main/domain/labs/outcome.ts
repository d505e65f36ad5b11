/** The outcome of one attempt at a lab: every check, prediction and question with its figures and a sentence. */
import { z } from 'zod'
import { LabCheck, predictionDirections } from './lab'
import { says, Statement } from '../messages/message'
import { MetricValue } from '../metrics/metrics'
import { Build, CacheState, Diagnostic } from '../session/session'
import { can, Target } from '../targets/targets'

export const Direction = z.enum(predictionDirections)
export type Direction = z.infer<typeof Direction>

/** The student's prediction; `factor` is the new value divided by the old, null if none was given. */
export const PredictionGiven = z.object({
  direction: Direction,
  factor: z.number().positive().nullable().default(null),
})
export type PredictionGiven = z.infer<typeof PredictionGiven>

export const LabAnswers = z.object({
  /** By prediction id. */
  predictions: z.record(z.string(), PredictionGiven).default({}),
  /** By question id. */
  questions: z.record(z.string(), z.number()).default({}),
})
export type LabAnswers = z.infer<typeof LabAnswers>

/** Answers that were given, or withdrawn (null). */
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

/** `unavailable` never counts as passed: the check was not possible, and the sentence says why. */
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
  /** after / before; null if either is unknown or before is 0. */
  factor: z.number().nullable(),
  direction: Direction.nullable(),
  status: z.enum(['met', 'missed', 'not-given', 'unavailable']),
  sentence: Statement,
  /** An explanation from the counters of this attempt. */
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
  /** `passed`: see outcomeStatus. `unavailable`: none failed, but too few were possible here. */
  status: z.enum(['passed', 'failed', 'unavailable']),
  target: Target,
  /** null if no GPU was available. */
  device: z.object({ name: z.string(), computeCapability: z.string() }).nullable(),
  /** L2 contents when it was timed; null without a time, absent in outcomes that predate it. */
  cacheState: CacheState.nullable().optional(),
  /** Why part of it could not be measured. */
  reason: Statement.nullable(),
  /** SHA-256 of the submission, hex. */
  sourceHash: z.string(),
  build: z.object({
    ok: z.boolean(),
    /** `sm_90`; null if it was not built. */
    architecture: z.string().nullable(),
    reason: Statement.nullable(),
    resources: Build.nullable(),
    diagnostics: z.array(Diagnostic),
    /** Derived from registers and static shared memory, by threads per block. */
    occupancy: z.array(OccupancyAt),
  }),
  checks: z.array(CheckResult),
  predictions: z.array(PredictionResult),
  questions: z.array(QuestionResult),
})
export type LabOutcome = z.infer<typeof LabOutcome>

/**
 * Returns the verdict on all checks. If nothing is timed, time-dependent checks do not count against the submission. It has passed if
 * nothing failed, it is correct, and a counter or a predicted time was judged, including one that distinguishes the starter from a
 * solution.
 */
export function outcomeStatus(
  checks: readonly CheckResult[],
  { times }: { times: boolean },
  /** The checks that the starter fails, if the lab names them. */
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

/** Checks that could not be judged, except time checks on targets without times. */
export const unjudged = ({
  checks,
  target,
}: Pick<LabOutcome, 'checks' | 'target'>): CheckResult[] =>
  checks.filter(
    ({ kind, status }) => status === 'unavailable' && (kind !== 'time' || can(target).times),
  )

/**
 * Whether a lab counts as passed with this outcome. On an emulated GPU every check except time must have been judged. A replay never
 * counts: it shows someone else's measurement.
 */
export const completesLab = (outcome: Pick<LabOutcome, 'status' | 'checks' | 'target'>): boolean =>
  outcome.status === 'passed' && !can(outcome.target).replays && unjudged(outcome).length === 0

/** The CLI contract of `lab check`: 0 passed, 1 not passed yet, 3 cannot be checked here. */
export const outcomeExitCode = ({ status }: Pick<LabOutcome, 'status'>): 0 | 1 | 3 =>
  status === 'passed' ? 0 : status === 'failed' ? 1 : 3

/** The submission's time, if a check measured it. */
export const outcomeTimeMs = ({ checks }: Pick<LabOutcome, 'checks'>): number | null =>
  checks
    .find(({ kind }) => kind === 'time')
    ?.figures.find(({ label }) => says(label, 'figures.time'))?.value.value ?? null
