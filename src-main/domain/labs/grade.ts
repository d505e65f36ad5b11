/** What grading makes of a folder of submissions: a row a student. */
import { z } from 'zod'
import { checkStatuses, outcomeTimeMs, type LabOutcome } from './outcome'
import { Statement } from '../messages/message'
import { inEnglish } from '../text/wording'
import type { Lab } from './lab'

export const GradeRow = z.object({
  student: z.string(),
  lab: z.string(),
  /** `refused`: what was handed in could not be taken; `stopped`: it met a limit of the grader. */
  status: z.enum(['passed', 'failed', 'unavailable', 'stopped', 'refused']),
  /** By id, every check of the lab. */
  checks: z.record(z.string(), z.enum(checkStatuses)),
  /** By id, what is known of each prediction and question. */
  predictions: z.record(z.string(), z.string()),
  questions: z.record(z.string(), z.string()),
  timeMs: z.number().nullable(),
  seconds: z.number(),
  /** Why it did not pass; empty where it did. */
  reason: Statement,
  /** Others whose code is much alike, for a person to judge. */
  similarTo: z.array(z.object({ student: z.string(), share: z.number() })),
})
export type GradeRow = z.infer<typeof GradeRow>

const none = { predictions: {}, questions: {}, timeMs: null, similarTo: [] }

/** A cell of a table, whatever a submission's words are. */
const inBrief = (reason: Statement): Statement => {
  const text = inEnglish(reason)
  return text.length > 500 ? `${text.slice(0, 500)}…` : reason
}

/** Every check has come to nothing, for the one reason. */
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
    seconds,
    reason: status === 'passed' ? '' : inBrief(first?.sentence ?? ''),
  }
}
