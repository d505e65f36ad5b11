/** The result of grading a submission folder, with one row per student. */
import { CacheState } from '../session/session'
import { z } from 'zod'
import type { Lab } from './lab'
import { Statement } from '../messages/message'
import { inEnglish } from '../text/english'
import { checkStatuses, LabOutcome, outcomeTimeMs } from './outcome'

export const GradeRow = z.object({
  student: z.string(),
  lab: z.string(),
  /**
   * `refused`: the submission was not accepted for grading. `stopped`: the submission exceeded one
   * of the grader's limits.
   */
  status: z.enum(['passed', 'failed', 'unavailable', 'stopped', 'refused']),
  /** Status of each of the lab's checks, by check id. */
  checks: z.record(z.string(), z.enum(checkStatuses)),
  /** Status of every prediction and question, by id. */
  predictions: z.record(z.string(), z.string()),
  questions: z.record(z.string(), z.string()),
  timeMs: z.number().nullable(),
  /** L2 state when the submission was timed; null if it was not timed. */
  cacheState: CacheState.nullable().default(null),
  seconds: z.number(),
  /** Reason why the submission did not pass; empty if it passed. */
  reason: Statement,
  /**
   * Other students who submitted very similar code. A person must decide whether the code was
   * copied.
   */
  similarTo: z.array(z.object({ student: z.string(), share: z.number() })),
  /**
   * Fraction of the solution's own code that also occurs in the submission, 0 to 1, ignoring names.
   * Null if the fraction is below the copy threshold, or if the solution adds too little code to
   * the starter.
   */
  likeSolution: z.number().nullable(),
  /**
   * The file that `lab regrade` needs to grade this submission again; null if nothing was judged.
   */
  record: z.string().nullable().default(null),
})

export type GradeRow = z.infer<typeof GradeRow>

const none = {
  ...{
    predictions: {},
    questions: {},
    timeMs: null,
    cacheState: null,
    similarTo: [],
    likeSolution: null,
  },
  record: null,
}

/** Shortens text from a submission to fit a table cell. */
const inBrief = (reason: Statement): Statement => {
  const text = inEnglish(reason)
  return text.length > 500 ? `${text.slice(0, 500)}…` : reason
}

/** Returns the row for a submission that has no check results. Every check gets `status`. */
export const emptyRow = (
  lab: Lab,
  student: string,
  status: 'stopped' | 'refused' | 'unavailable',
  reason: Statement,
  seconds: number,
): GradeRow => ({
  ...none,
  student,
  lab: lab.id,
  status,
  checks: Object.fromEntries(
    lab.checks.map(({ id }) => [id, status === 'unavailable' ? 'unavailable' : 'failed']),
  ),
  seconds,
  reason: inBrief(reason),
})

export function outcomeRow(student: string, outcome: LabOutcome, seconds: number): GradeRow {
  const { checks, predictions, questions, status } = outcome
  const byId = <T extends string>(parts: readonly { id: string; status: T }[]) =>
    Object.fromEntries(parts.map((part) => [part.id, part.status]))
  const first =
    checks.find((check) => check.status === 'failed') ??
    checks.find((check) => check.status === 'unavailable')
  return {
    ...none,
    student,
    lab: outcome.lab,
    status,
    checks: byId(checks),
    predictions: byId(predictions),
    questions: byId(questions),
    timeMs: outcomeTimeMs(outcome),
    cacheState: outcome.cacheState ?? null,
    seconds,
    reason: status === 'passed' ? '' : inBrief(first?.sentence ?? ''),
  }
}
