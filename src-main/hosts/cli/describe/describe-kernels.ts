/** A session of kernels under ncu, of a program or an import, as terminal text. */
import { cardMetricIds, metricDefinition } from '../../../domain/metrics/metrics'
import { formatMs, formatShare } from '../../../domain/metrics/units'
import type { RungResult, Session } from '../../../domain/session/session'
import { inEnglish } from '../../../domain/text/english'
import { table, type Column } from '../output'
import { describeOrigin, metric, metricHeaders } from './describe-ladder'
import { shareOfTotal, totalProfiledMs } from '../../../domain/programs/profiled-time'

export const none = '–'

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
