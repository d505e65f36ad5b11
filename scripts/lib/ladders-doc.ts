/** The table of all ladders in docs/RESULTS.md, and its short form in README.md: the best rung of each recording. */
import { join } from 'node:path'
import { sharedSessions, sharingSessions } from '../../src-main/adapters/disk/journal'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { leadFigure, leadOf, leadPipe, rateText } from '../../src-main/domain/analysis/lead-figure'
import { metricDefinition } from '../../src-main/domain/metrics/metrics'
import {
  formatMs,
  formatPercent,
  formatRatio,
  formatValue,
} from '../../src-main/domain/metrics/units'
import type { Session } from '../../src-main/domain/session/session'
import { problemWord } from '../../src-main/domain/task/problem'
import { md, mdTable } from '../../src-main/domain/text/tables'

export interface RecordedSession {
  recording: string
  session: Session
}

/** Every recording of a ladder of kernels, in the order of names; the deep ones show what their others show. */
export async function recordedLadders(recordings: string): Promise<RecordedSession[]> {
  const names = (await sharingSessions(join(recordings, sharedSessions))).sort()
  const all = await Promise.all(
    names.map(async (recording) => ({
      recording,
      session: await readSession(join(recordings, recording)),
    })),
  )
  return all.filter(
    ({ session }) => session.problem !== null && session.settings.profile !== 'deep',
  )
}

/** The fastest rung that is not the reference: a library is what a ladder climbs to. */
const bestOf = ({ ladder, rungs }: Session): Session['rungs'][number] | undefined =>
  rungs
    .filter(({ id, status, timing }) => status === 'ok' && timing && id !== ladder.reference)
    .sort((a, b) => a.timing!.medianMs - b.timing!.medianMs)[0]

/** `, causal 1`: scalars that are not the task's own, as two recordings of one size may differ by. */
const unusual = ({ problem, ladder }: Session): string =>
  Object.entries(problem?.scalars ?? {})
    .filter(([name, value]) => ladder.task?.scalars[name]?.value !== value)
    .map(([name, value]) => `, ${name} ${value}`)
    .join('')

function cells({ recording, session }: RecordedSession): string[] {
  const best = bestOf(session)
  if (!best?.timing || !session.problem) throw new Error(`${recording} has no rung with a time.`)
  const figure = leadFigure(session, best)
  const { value: roof } = leadOf(session).roof
  // FP32 results may come from tensor cores, which the FP32 pipe's peak says nothing of.
  const isTensor = (best.metrics['tensorUtilization']?.value ?? 0) >= 1
  const pipe = isTensor ? 'tensorUtilization' : leadPipe(session)
  const hasRoof = pipe === leadPipe(session)
  const busy = best.metrics[pipe]?.value
  const { ratioToReference } = best.timing
  return [
    md(`${session.ladder.title}, ${problemWord(session.problem)}${unusual(session)}`),
    `\`${best.id}\``,
    formatMs(best.timing.medianMs),
    rateText(figure),
    ratioToReference == null ? '–' : formatRatio(ratioToReference),
    figure?.share == null || roof.value === null || !hasRoof
      ? '–'
      : `${formatPercent(figure.share)} of ${formatValue(roof.value, roof.unit)}, ${roof.evidence}`,
    busy == null ? '–' : `${metricDefinition(pipe)!.label} ${formatPercent(busy)}`,
    `\`recorded:${recording}\``,
  ]
}

const headers = [
  'ladder',
  'best rung',
  'time',
  'rate',
  'to its library',
  'of the limit',
  'busy',
  'shown by',
]

const table = (rows: readonly string[][], columns: readonly number[]): string =>
  mdTable(
    columns.map((at) => ({
      header: headers[at]!,
      align: at >= 2 && at <= 5 ? ('right' as const) : ('left' as const),
    })),
    rows.map((row) => columns.map((at) => row[at]!)),
  )

/** One row per ladder, at the first size that it names: what a reader of README.md sees. */
const leading = [
  'gemm-fp32-h200-4096',
  'gemm-3xtf32-h200-4096',
  'gemm-tensor-h200-4096',
  'reduction-h200',
  'scan-h200',
  'transpose-h200',
  'softmax-h200',
  'attention-h200',
  'attention-h200-causal',
  'gemm-bf16-h200-4096',
  'gemm-fp8-h200-4096',
]

/** The generated part of each document. */
export function laddersParts(recorded: readonly RecordedSession[]): [path: string, part: string][] {
  const rows = new Map(recorded.map((one) => [one.recording, cells(one)]))
  return [
    [
      'README.md',
      table(
        leading.map((name) => rows.get(name)!),
        [0, 1, 3, 4, 5],
      ),
    ],
    ['docs/RESULTS.md', table([...rows.values()], [0, 1, 2, 3, 4, 5, 6, 7])],
  ]
}
