/** Formats the result table of a grading as CSV or text, with notes before and after the table. */
import { inEnglish } from '../../../domain/text/english'
import type { LabFolder } from '../../../adapters/labs/lab-folders'
import { table } from '../table'
import type { GradeRow } from '../../../domain/labs/grade-row'
import { csvTable, type Cell } from '../../../domain/text/csv'

export interface Batch {
  lab: LabFolder
  folder: string
}

const percent = (share: number): string => `${Math.round(share * 100)} %`

const countOf = (parts: Record<string, string>, good: string): string =>
  `${Object.values(parts).filter((status) => status === good).length}/${Object.keys(parts).length}`

/**
 * Returns the table as CSV with the columns of all labs. A cell is empty if the row's lab does not
 * have that check.
 */
export function csvOf(batches: readonly Batch[], rows: readonly GradeRow[]): string {
  const ids = (group: 'checks' | 'predictions' | 'questions'): string[] => [
    ...new Set(batches.flatMap(({ lab }) => lab.lab[group].map(({ id }) => id))),
  ]
  const groups = {
    check: ids('checks'),
    prediction: ids('predictions'),
    question: ids('questions'),
  }
  const header = [
    ...['student', 'lab', 'status', 'checks_passed', 'checks'],
    ...Object.entries(groups).flatMap(([group, names]) => names.map((id) => `${group}:${id}`)),
    ...['time_ms', 'cache_state', 'grading_seconds', 'reason', 'similar_to', 'like_solution'],
  ]
  return csvTable(
    header,
    rows.map((row): Cell[] => {
      const statuses = Object.values(row.checks)
      return [
        ...[row.student, row.lab, row.status],
        ...[statuses.filter((status) => status === 'passed').length, statuses.length],
        ...groups.check.map((id) => row.checks[id] ?? null),
        ...groups.prediction.map((id) => row.predictions[id] ?? null),
        ...groups.question.map((id) => row.questions[id] ?? null),
        ...[row.timeMs, row.cacheState, Number(row.seconds.toFixed(2)), inEnglish(row.reason)],
        row.similarTo.map(({ student, share }) => `${student} (${percent(share)})`).join('; '),
        row.likeSolution === null ? null : percent(row.likeSolution),
      ]
    }),
  )
}

export const textOf = (rows: readonly GradeRow[]): string =>
  table(rows, [
    { header: 'student', align: 'left', cell: ({ student }) => student },
    { header: 'status', align: 'left', cell: ({ status }) => status },
    { header: 'checks', cell: ({ checks }) => countOf(checks, 'passed') },
    { header: 'predictions', cell: ({ predictions }) => countOf(predictions, 'met') },
    { header: 'questions', cell: ({ questions }) => countOf(questions, 'right') },
    { header: 's', cell: ({ seconds }) => seconds.toFixed(1) },
    {
      header: 'similar to',
      align: 'left',
      cell: ({ similarTo, likeSolution }) =>
        [
          ...(likeSolution === null ? [] : ['(solution)']),
          ...similarTo.map(({ student }) => student),
        ].join(', '),
    },
    { header: 'reason', align: 'left', cell: ({ reason }) => inEnglish(reason) },
  ])

export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

/** Returns a sentence with the number of submissions to grade and the target. */
export const startSentence = (
  { submissions, jobs, gpus }: { submissions: number; jobs: number; gpus: number },
  { needsGpu, replays }: { needsGpu: boolean; replays: boolean },
): string => {
  const where = replays
    ? 'from recordings'
    : needsGpu && gpus > 0
      ? `on ${counted(gpus, 'GPU')}`
      : needsGpu
        ? 'without a GPU'
        : 'on the emulated GPU'
  return `${counted(submissions, 'submission')}, ${jobs} at a time ${where}`
}

/**
 * Returns a sentence with the duration of this command. If earlier gradings or several jobs
 * contributed rows, the sentence also contains the total duration for all rows.
 */
export function endSentence(
  rows: readonly Pick<GradeRow, 'seconds'>[],
  reused: number,
  seconds: number,
): string {
  const all = rows.reduce((sum, row) => sum + row.seconds, 0)
  return reused === 0
    ? `${rows.length} graded in ${seconds.toFixed(1)} s.`
    : `${rows.length} graded, ${rows.length - reused} of them now in ${seconds.toFixed(1)} s; grading all rows took ${all.toFixed(1)} s.`
}
