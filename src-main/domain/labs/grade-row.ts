/** The result of grading a folder of submissions: one row per student. */
import { CacheState } from '../session/session'
import { z } from 'zod'
import type { Lab } from './lab'
import { Statement } from '../messages/message'
import { inEnglish } from '../text/english'
import { checkStatuses, LabOutcome, outcomeTimeMs } from './outcome'

export const GradeRow = z.object({
  student: z.string(),
  lab: z.string(),
  /** `refused`: the submission could not be accepted; `stopped`: it exceeded a limit of the grader. */
  status: z.enum(['passed', 'failed', 'unavailable', 'stopped', 'refused']),
  /** By id, every check of the lab. */
  checks: z.record(z.string(), z.enum(checkStatuses)),
  /** By id, the status of each prediction and question. */
  predictions: z.record(z.string(), z.string()),
  questions: z.record(z.string(), z.string()),
  timeMs: z.number().nullable(),
  /** L2 contents when it was timed; null without a time. */
  cacheState: CacheState.nullable().default(null),
  seconds: z.number(),
  /** Why it did not pass; empty if it did. */
  reason: Statement,
  /** Other students with closely resembling code, for a person to judge. */
  similarTo: z.array(z.object({ student: z.string(), share: z.number() })),
  /**
   * Share of the solution's own code that the submission contains, ignoring names, 0 to 1. null if it is below the level of a copy, or if
   * the solution adds too little to the starter.
   */
  likeSolution: z.number().nullable(),
  /** The file from which `lab regrade` repeats the row; null if nothing was judged. */
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

/** Shortens text from a submission so that it fits a table cell. */
const inBrief = (reason: Statement): Statement => {
  const text = inEnglish(reason)
  return text.length > 500 ? `${text.slice(0, 500)}…` : reason
}

/** A row in which no check has a result, for a common reason. */
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
