/** `kernel-ladder sessions`: lists recordings and the user's own sessions. */
import type { SetUp } from '../../../adapters/machine/machine'
import type { SessionSummary } from '../../../contract'
import { isRecording } from '../../../domain/session/session-summary'
import { gpuOfTarget, isEmulated, isPredicted } from '../../../domain/targets/targets'
import { problemLabel } from '../../../domain/task/problem'
import { inEnglish } from '../../../domain/text/english'
import { listAll } from '../../../services/sessions/list-sessions'
import { sessionsDocument } from '../documents/sessions'
import { none } from '../describe/figure'
import { wholeNumber } from '../option-values'
import { note, noteReading, printJson, printText } from '../output'
import { table, type Column } from '../table'

export interface SessionsOptions {
  ladder?: string
  limit?: string
  all?: boolean
  json?: boolean
}

/**
 * Default number of sessions to list. With this limit, about a week of sessions fits on one screen.
 */
const usualLimit = 20

const gpuText = ({ deviceName, target }: SessionSummary): string => {
  const gpu = target && gpuOfTarget(target)
  return (
    deviceName ??
    (gpu
      ? `${isPredicted(target) ? 'predicted for' : isEmulated(target) ? 'emulated' : 'built for'} ${gpu.name}`
      : none)
  )
}

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/**
 * Put the ladder in the last column, because most session names already begin with the ladder's id.
 */
const columns: Column<SessionSummary>[] = [
  { header: 'name', align: 'left', cell: ({ ref }) => ref },
  { header: 'date', align: 'left', cell: ({ createdAt }) => createdAt.slice(0, 10) || none },
  { header: 'level', align: 'left', cell: ({ profile, damaged }) => (damaged ? none : profile) },
  { header: 'GPU', align: 'left', cell: gpuText },
  {
    header: 'ladder',
    align: 'left',
    cell: ({ ladder, problem, damaged }) =>
      damaged === undefined
        ? [ladder.id, ...(problem ? [problemLabel(problem)] : [])].join(' ')
        : `not readable: ${onOneLine(inEnglish(damaged))}`,
  },
]

const titled: Column<SessionSummary> = {
  header: 'title',
  align: 'left',
  cell: ({ title }) => (title === null ? '' : onOneLine(title)),
}

export async function sessionsCommand(setUp: SetUp, options: SessionsOptions): Promise<number> {
  const limit = options.all
    ? Infinity
    : options.limit === undefined
      ? usualLimit
      : wholeNumber(options.limit, '--limit', 1_000_000)
  const listed = (await listAll(await setUp(), noteReading)).filter(
    ({ ladder }) => options.ladder === undefined || ladder.id === options.ladder,
  )
  const recordings = listed.filter(isRecording)
  const own = listed.filter((session) => !isRecording(session))
  const shown = own.slice(0, limit)
  if (options.json) {
    printJson(sessionsDocument, {
      sessions: [...shown, ...recordings],
      left: own.length - shown.length,
    })
    return 0
  }
  const section = (heading: string, sessions: readonly SessionSummary[]): string[] => {
    const hasTitles = sessions.some(({ title }) => title !== null)
    return sessions.length === 0
      ? []
      : [heading, table(sessions, hasTitles ? [...columns, titled] : columns), '']
  }
  const count =
    own.length === shown.length ? `${own.length}` : `${shown.length} newest of ${own.length}`
  const text = [
    ...section(`Your sessions (${count}), newest first:`, shown),
    ...section(`Recordings (${recordings.length}):`, recordings),
  ]
  if (text.length > 0) printText(text.join('\n').trimEnd())
  if (own.length > shown.length) note(`To list older sessions, use --limit N or --all.`)
  if (own.length === 0)
    note('You have no sessions of your own yet: `kernel-ladder run --ladder ID` creates one.')
  return 0
}
