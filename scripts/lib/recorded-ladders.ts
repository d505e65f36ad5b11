/**
 * Generates the table of all ladders in docs/evidence/results.md. The table shows the best rung of
 * each recording.
 */
import { join } from 'node:path'
import { readdirSync, readFileSync } from 'node:fs'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { hasOtherOptions } from '../../src-main/domain/analysis/library-claim'
import { leadFigure, leadOf, leadPipe, rateText } from '../../src-main/domain/analysis/lead-figure'
import { metricDefinition } from '../../src-main/domain/metrics/metrics'
import {
  formatMs,
  formatPercent,
  formatRatio,
  formatValue,
} from '../../src-main/domain/metrics/units'
import type { Session } from '../../src-main/domain/session/session'
import { LadderFile, type Published } from '../../src-main/domain/ladder/ladder'
import { problemWord, sameSizes } from '../../src-main/domain/task/problem'
import { md, mdTable } from '../../src-main/domain/text/markdown'
import { inEnglish } from '../../src-main/domain/text/english'
import { sharedSessions, sharingSessions } from '../../src-main/adapters/disk/shared-sessions'

export interface RecordedSession {
  recording: string
  session: Session
}

/**
 * Returns the recordings of kernel ladders by name. Omits deep recordings, because they repeat
 * other recordings.
 */
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

/**
 * Returns the fastest rung that computes the same result as the reference, with the same types.
 * Skips the reference.
 */
const bestOf = (session: Session): Session['rungs'][number] | undefined =>
  session.rungs
    .filter(
      ({ id, status, timing }) => status === 'ok' && timing && id !== session.ladder.reference,
    )
    .filter(({ id }) => !hasOtherOptions(session, id))
    .sort((a, b) => a.timing!.medianMs - b.timing!.medianMs)[0]

/**
 * Formats scalars that differ from the task's defaults, such as `, causal 1`, to distinguish
 * recordings of the same size.
 */
const unusual = ({ problem, ladder }: Session): string =>
  Object.entries(problem?.scalars ?? {})
    .filter(([name, value]) => ladder.task?.scalars[name]?.value !== value)
    .map(([name, value]) => `, ${name} ${value}`)
    .join('')

const usesTensorCores = ({ metrics }: Session['rungs'][number]): boolean =>
  (metrics['tensorUtilization']?.value ?? 0) >= 1

/**
 * Returns the table cells of a recording. `onTensorCores` contains the ids of rungs that used
 * tensor cores in any recording. The ids are needed because not every profiling level has tensor
 * core counters.
 */
function cells(
  { recording, session }: RecordedSession,
  onTensorCores: ReadonlySet<string>,
): string[] {
  const best = bestOf(session)
  if (!best?.timing || !session.problem) throw new Error(`${recording} has no rung with a time.`)
  const figure = leadFigure(session, best)
  const { value: roof } = leadOf(session).roof
  // Tensor cores may compute FP32 results. The FP32 pipe's peak does not apply to rungs on tensor
  // cores.
  const pipe = onTensorCores.has(best.id) ? 'tensorUtilization' : leadPipe(session)
  const hasRoof = pipe === leadPipe(session)
  const busy = best.metrics[pipe]?.value
  const { ratioToReference } = best.timing
  const { reference } = session.ladder
  return [
    md(`${session.ladder.title}, ${problemWord(session.problem)}${unusual(session)}`),
    `\`${best.id}\``,
    formatMs(best.timing.medianMs),
    best.timing.cacheState,
    rateText(figure),
    ratioToReference != null
      ? formatRatio(ratioToReference)
      : reference === null
        ? 'none recorded'
        : '–',
    !hasRoof
      ? 'FP32 from tensor cores'
      : figure?.share == null || roof.value === null
        ? figure?.aboveRoof
          ? inEnglish(figure.aboveRoof)
          : '–'
        : `${formatPercent(figure.share)} of ${formatValue(roof.value, roof.unit)}, ${roof.evidence}`,
    busy == null ? '–' : `${metricDefinition(pipe)!.label} ${formatPercent(busy)}`,
    `\`recorded:${recording}\``,
  ]
}

const headers = [
  'ladder',
  'best rung',
  'time',
  'L2',
  'rate',
  'vs. library',
  'share of the limit',
  'utilization',
  'recording',
]

/** Returns the table of all recordings for docs/evidence/results.md. */
export function laddersPart(recorded: readonly RecordedSession[]): string {
  const onTensorCores = new Set(
    recorded.flatMap(({ session }) => session.rungs.filter(usesTensorCores).map(({ id }) => id)),
  )
  return mdTable(
    headers.map((header, at) => ({
      header,
      align: at >= 2 && at <= 6 ? ('right' as const) : ('left' as const),
    })),
    recorded.map((one) => cells(one, onTensorCores)),
  )
}

/** Returns the shipped ladders. */
export function shippedLadders(root: string): LadderFile[] {
  const kernels = join(root, 'cuda-kernels')
  return readdirSync(kernels, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\/ladders\/[^/]+\.json$/.test(file))
    .map((file) => LadderFile.parse(JSON.parse(readFileSync(join(kernels, file), 'utf8'))))
}

/**
 * Returns published figures by ladder, from the current shipped ladders. The copies of ladders in
 * recordings may be outdated.
 */
export const publishedFigures = (root: string): Map<string, Published> =>
  new Map(
    shippedLadders(root).flatMap(({ id, published }) =>
      published ? [[id, published] as const] : [],
    ),
  )

/**
 * Returns each published figure with this project's result for the same rung and size. The table
 * has no ratio of the two results, because they come from different GPUs.
 */
export function publishedPart(
  recorded: readonly RecordedSession[],
  published: ReadonlyMap<string, Published>,
): string {
  const rows = recorded.flatMap(({ session }) => {
    const { ladder, problem, device } = session
    const theirs = published.get(ladder.id)
    if (!theirs || !problem || !device || !sameSizes(theirs.size, problem.sizes)) return []
    return session.rungs.flatMap((rung) => {
      const gflops = theirs.gflops[rung.id]
      const { timing } = rung
      if (gflops === undefined || !timing?.gflops) return []
      // Convert the figure to the unit of the measured rate, using the task's ratio of bytes to
      // operations.
      const own = leadFigure(session, rung)!.rate
      const rate = { ...own, value: (own.value! * gflops) / timing.gflops }
      return [
        [
          md(
            `${theirs.author ?? 'author not given'}, ${theirs.gpu ?? 'GPU not given'}, ${problemWord(problem)}`,
          ),
          `\`${rung.id}\``,
          formatValue(rate.value, rate.unit),
          formatValue(own.value!, own.unit),
        ],
      ]
    })
  })
  return mdTable(
    ['author, GPU, size', 'rung', 'published', 'here, NVIDIA H200'].map((header, at) => ({
      header,
      align: at >= 2 ? ('right' as const) : ('left' as const),
    })),
    rows,
  )
}
