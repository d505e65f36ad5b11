/**
 * Prints, as terminal text, a session of kernels that ncu profiled. Such a session is from a
 * profiled program or an import.
 */
import { cardMetricIds, metricDefinition } from '../../../domain/metrics/metrics'
import { formatMs, formatShare } from '../../../domain/metrics/units'
import type { RungResult, Session } from '../../../domain/session/session'
import { inEnglish } from '../../../domain/text/english'
import { table, type Column } from '../table'
import { describeOrigin, metricHeaders } from './describe-ladder'
import { metric, none } from './figure'
import { rangeGroups, type RangeGroup } from '../../../domain/programs/range-groups'
import {
  isTimedTogether,
  shareOfTotal,
  totalProfiledMs,
} from '../../../domain/programs/profiled-time'

const timeHeader = (session: Session): string =>
  isTimedTogether(session) ? 'time by CUPTI' : 'time under ncu'

const timesColumns = (session: Session, total: number | null): Column<RungResult>[] => [
  { header: 'launches', cell: ({ profiledTime }) => String(profiledTime?.launches ?? none) },
  {
    header: timeHeader(session),
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

/** Columns that are shown only if a kernel was launched more than once. */
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

/** A table row for a kernel, or for the NVTX range that contains the following kernels. */
type Line = { rung: RungResult } | { group: RangeGroup }

function linesOf(session: Session): Line[] {
  const groups = rangeGroups(session)
  if (!groups) return session.rungs.map((rung) => ({ rung }))
  return groups.flatMap((group): Line[] => [{ group }, ...group.rungs.map((rung) => ({ rung }))])
}

const kernelCount = (count: number): string => `${count} ${count === 1 ? 'kernel' : 'kernels'}`

/** Returns a cell in a range's row. A range has a time but no counters. */
function groupCell({ title, rungs, totalMs }: RangeGroup, header: string, total: number | null) {
  if (header === 'id') return `[${title ?? 'outside any range'}]`
  if (header === 'kernel') return kernelCount(rungs.length)
  if (header.startsWith('time ')) return totalMs === null ? none : formatMs(totalMs)
  if (header === 'share')
    return totalMs === null || total === null ? none : formatShare(totalMs / total)
  return ''
}

export function describeKernels(session: Session): string {
  const { rungs } = session
  const total = totalProfiledMs(session)
  const repeated = rungs.some(({ profiledTime }) => (profiledTime?.launches ?? 0) > 1)
  const columns: Column<RungResult>[] = [
    { header: 'id', align: 'left', cell: ({ id }) => id },
    { header: 'kernel', align: 'left', cell: ({ title }) => title },
    ...timesColumns(session, total),
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
  const manner = isTimedTogether(session)
    ? 'CUPTI timed them as the program launched them, so concurrent kernels are counted twice'
    : `${by} ran each launch by itself, so these are not the program’s times`
  return [
    describeOrigin(session),
    table(
      linesOf(session),
      columns.map(({ header, align, cell }): Column<Line> => ({
        header,
        ...(align ? { align } : {}),
        cell: (line) => ('rung' in line ? cell(line.rung) : groupCell(line.group, header, total)),
      })),
    ),
    ...(total === null
      ? []
      : [`${kernelCount(rungs.length)}, ${formatMs(total)} in all; ${manner}`]),
    ...(passes > 0 && !isTimedTogether(session)
      ? [`counters: ${by}, ${passes} ${passes === 1 ? 'pass' : 'passes'} per kernel`]
      : []),
    ...session.warnings.map((warning) => `warning: ${inEnglish(warning)}`),
  ].join('\n')
}
