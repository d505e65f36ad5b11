/** A session of kernels under ncu, of a program or an import, as terminal text. */
import { shareOfTotal, totalProfiledMs } from '../../../domain/programs/compare-sessions'
import { cardMetricIds, metricDefinition } from '../../../domain/metrics/metrics'
import { formatMs, formatShare, formatRatio } from '../../../domain/metrics/units'
import type { RungResult, Session } from '../../../domain/session/session'
import { inEnglish } from '../../../domain/text/text'
import { table, type Column } from '../output'
import { describeOrigin, metric, metricHeaders } from './describe-ladder'
import { stepWords } from '../../../domain/analysis/climb'
import { parseKernelName } from '../../../domain/programs/choose'

const none = '–'

const timesColumns = (total: number | null): Column<RungResult>[] => [
  { header: 'launches', cell: ({ profiledTime }) => String(profiledTime?.launches ?? none) },
  {
    header: 'time under ncu',
    cell: ({ profiledTime }) => (profiledTime ? formatMs(profiledTime.totalMs) : none),
  },
  {
    header: 'share',
    cell: (rung) => {
      const share = shareOfTotal(rung, total)
      return share === null ? none : formatShare(share)
    },
  },
]

/** Only where a kernel was launched more than once. */
const spreadColumns: readonly Column<RungResult>[] = [
  {
    header: 'median',
    cell: ({ profiledTime }) => (profiledTime ? formatMs(profiledTime.medianMs) : none),
  },
  {
    header: 'from',
    cell: ({ profiledTime: time }) =>
      time && time.launches > 1 ? `${formatMs(time.minMs)} to ${formatMs(time.maxMs)}` : none,
  },
]

export function describeKernels(session: Session): string {
  const { rungs } = session
  const total = totalProfiledMs(session)
  const repeated = rungs.some(({ profiledTime }) => (profiledTime?.launches ?? 0) > 1)
  const columns: Column<RungResult>[] = [
    { header: 'id', align: 'left', cell: ({ id }) => id },
    { header: 'kernel', align: 'left', cell: ({ title }) => title },
    ...timesColumns(total),
    ...(repeated ? spreadColumns : []),
    ...cardMetricIds
      .filter((id) => rungs.some(({ metrics }) => metrics[id]?.value != null))
      .map((id): Column<RungResult> => ({
        header: metricHeaders[id] ?? metricDefinition(id)?.label ?? id,
        cell: ({ metrics }) => metric(metrics[id]),
      })),
  ]
  const passes = Math.max(0, ...rungs.map(({ profile }) => profile?.passes ?? 0))
  const by = ['ncu', ...(session.tools.ncu ? [session.tools.ncu] : [])].join(' ')
  return [
    describeOrigin(session),
    table(rungs, columns),
    ...(total === null
      ? []
      : [
          `${rungs.length} kernels, ${formatMs(total)} in all; ${by} ran each launch by itself, so these are not times of the program`,
        ]),
    ...(passes > 0
      ? [`counters: ${by}, ${passes} ${passes === 1 ? 'pass' : 'passes'} per kernel`]
      : []),
    ...session.warnings.map((warning) => `warning: ${inEnglish(warning)}`),
  ].join('\n')
}

// A session of a ladder of programs as terminal text: wall times of whole processes, and what their kernels took.

/** Kernels named for each rung, the hottest first. */
const mostNamed = 3

export function describePrograms(session: Session): string {
  const { rungs } = session
  const timed = rungs.some(({ profiledTime }) => profiledTime)
  const verified = rungs.some(({ verify }) => verify)
  const columns: Column<RungResult>[] = [
    { header: 'rung', align: 'left', cell: ({ id }) => id },
    { header: 'status', align: 'left', cell: ({ status }) => status },
    { header: 'wall time', cell: ({ timing }) => (timing ? formatMs(timing.medianMs) : none) },
    { header: '±', cell: ({ timing }) => (timing ? `${(timing.spread * 50).toFixed(1)}%` : none) },
    ...(timed ? gpuColumns : []),
    {
      header: 'to ref.',
      cell: ({ timing }) =>
        timing?.ratioToReference == null ? none : formatRatio(timing.ratioToReference),
    },
    {
      header: 'step',
      cell: (rung) => inEnglish(stepWords(session, rung) ?? none),
    },
    ...(verified
      ? [
          {
            header: 'error',
            cell: ({ verify }: RungResult) => verify?.worstRelativeError?.toExponential(1) ?? none,
          },
        ]
      : []),
  ]
  const by = session.tools.ncu === null ? 'ncu' : `ncu ${session.tools.ncu}`
  return [
    describeOrigin(session),
    table(rungs, columns),
    `wall time: of the whole process, median; ± half the interquartile range${timed ? `; GPU time: the kernels of one run, each by itself under ${by}` : ''}`,
    ...rungs.flatMap(kernelLine),
    `the run took ${session.elapsedSeconds.toFixed(1)} s`,
    ...session.warnings.map((warning) => `warning: ${inEnglish(warning)}`),
    ...rungs.flatMap(({ id, status, reason }) =>
      status === 'ok' ? [] : [`${id}: ${status}. ${inEnglish(reason ?? '')}`.trimEnd()],
    ),
  ].join('\n')
}

const gpuColumns: readonly Column<RungResult>[] = [
  {
    header: 'GPU time',
    cell: ({ profiledTime }) => (profiledTime ? formatMs(profiledTime.totalMs) : none),
  },
  { header: 'launches', cell: ({ profiledTime }) => String(profiledTime?.launches ?? none) },
]

/** `02_fused: 7 kernels, bias_gelu 43.1 %, …` */
function kernelLine({ id, profile, profiledTime: all }: RungResult): string[] {
  if (!profile || !all) return []
  const hottest = [...profile.kernels]
    .sort((a, b) => (b.profiledTime?.totalMs ?? 0) - (a.profiledTime?.totalMs ?? 0))
    .slice(0, mostNamed)
    .map(
      ({ name, profiledTime: own }) =>
        `${parseKernelName(name).base} ${formatShare((own?.totalMs ?? 0) / all.totalMs)}`,
    )
  const { length } = profile.kernels
  const more = length > hottest.length ? ', …' : ''
  return [`${id}: ${length} ${length === 1 ? 'kernel' : 'kernels'}, ${hottest.join(', ')}${more}`]
}
