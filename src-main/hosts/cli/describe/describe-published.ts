/** Prints the figures that a ladder's author published. */
import { threadsPerBlock } from '../../../domain/analysis/derived-metrics'
import { isPublishedSize } from '../../../domain/analysis/table-columns'
import { metricDefinitions } from '../../../domain/metrics/metrics'
import { formatGflops, formatValue, type Unit } from '../../../domain/metrics/units'
import type { RungResult, Session } from '../../../domain/session/session'
import { sizesLabel } from '../../../domain/task/problem'
import { table, type Column } from '../table'
import { metric, none } from './figure'

const figure = (value: number | undefined, unit: Unit): string =>
  value === undefined ? none : formatValue(value, unit)

/**
 * Describes the published figures. Shows measured values next to the published figures only if the
 * values are for the same problem.
 */
export function describePublished(session: Session): string[] {
  const { published } = session.ladder
  if (!published) return []
  const hasOurs = isPublishedSize(session)
  const beside = (ours: string, theirs: string): string =>
    hasOurs ? `${ours} | ${theirs}` : theirs
  const ids = metricDefinitions.filter(({ id }) =>
    Object.values(published.metrics).some((figures) => figures[id] !== undefined),
  )
  const rungs = session.rungs.filter(
    ({ id }) => published.gflops[id] !== undefined || published.metrics[id],
  )
  const threads = published.threadsPerBlock
  const columns: Column<RungResult>[] = [
    { header: beside('ours', 'published'), align: 'left', cell: ({ id }) => id },
    {
      header: 'throughput',
      cell: ({ id, timing }) =>
        beside(
          timing ? formatGflops(timing.gflops) : none,
          figure(published.gflops[id], 'GFLOP/s'),
        ),
    },
    ...(threads
      ? [
          {
            header: 'threads/block',
            cell: (rung: RungResult) =>
              beside(`${threadsPerBlock(rung) ?? none}`, `${threads[rung.id] ?? none}`),
          },
        ]
      : []),
    ...ids.map((definition): Column<RungResult> => ({
      header: definition.label,
      cell: ({ id, metrics }) =>
        beside(
          metric(metrics[definition.id]),
          figure(published.metrics[id]?.[definition.id], definition.unit),
        ),
    })),
  ]
  return [
    '',
    `${published.title}${published.author ? ` (${published.author})` : ''}${published.gpu ? `, on ${published.gpu} at ${sizesLabel(published.size)}` : ''}:`,
    ...(rungs.length > 0 ? [table(rungs, columns)] : []),
    published.conclusion,
  ]
}
