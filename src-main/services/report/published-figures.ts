/** Compares the measured results with the results that the ladder's author published. */
import { threadsPerBlock } from '../../domain/analysis/derived-metrics'
import { isPublishedSize } from '../../domain/analysis/table-columns'
import { metricDefinitions } from '../../domain/metrics/metrics'
import { sizesLabel } from '../../domain/task/problem'
import type { Session } from '../../domain/session/session'
import { formatGflops, formatValue } from '../../domain/metrics/units'

export interface PublishedFigures {
  /** The table's heading. */
  title: string
  /** The publisher, the GPU, and the source of the published results. */
  origin: string
  conclusion: string
  /**
   * Column headings: throughput, threads per block if the author varied them, and all published
   * metrics.
   */
  columns: string[]
  /** Whether the session has the same problem, so that one table can show both sets of results. */
  hasOurs: boolean
  /** Rungs with the published results and the session's results. A dash marks a missing result. */
  rows: { id: string; theirs: string[]; ours: string[] }[]
}

const none = '–'

export function publishedFigures(session: Session): PublishedFigures | null {
  const { published } = session.ladder
  const hasOurs = isPublishedSize(session)
  if (!published) return null
  const metrics = metricDefinitions.filter(({ id }) =>
    Object.values(published.metrics).some((figures) => figures[id] !== undefined),
  )
  const { author, title, gpu, size, url, threadsPerBlock: threads } = published
  const where = gpu === undefined ? 'no figures are given' : `on ${gpu} at ${sizesLabel(size)}`
  return {
    title: hasOurs ? 'Published figures next to ours' : 'Published figures',
    hasOurs,
    origin: `${title}${author === undefined ? '' : ` (${author})`}, ${where}${url === undefined ? '' : `, ${url}`}. The GPU${hasOurs ? ' is' : ' and the problem size are'} different: compare the steps, not the absolute figures.`,
    conclusion: published.conclusion,
    columns: [
      'Throughput',
      ...(threads ? ['Threads per block'] : []),
      ...metrics.map(({ label }) => label),
    ],
    rows: session.rungs
      .filter(({ id }) => published.gflops[id] !== undefined || published.metrics[id])
      .map((rung) => {
        const { id, timing, metrics: own } = rung
        const gflops = published.gflops[id]
        const theirs = metrics.map((metric) => {
          const figure = published.metrics[id]?.[metric.id]
          return figure === undefined ? none : formatValue(figure, metric.unit)
        })
        const ours = metrics.map((metric) => {
          const figure = own[metric.id]?.value
          return figure == null ? none : formatValue(figure, metric.unit)
        })
        return {
          id,
          theirs: [
            gflops === undefined ? none : formatGflops(gflops),
            ...(threads ? [String(threads[id] ?? none)] : []),
            ...theirs,
          ],
          ours: [
            timing ? formatGflops(timing.gflops) : none,
            ...(threads ? [String(threadsPerBlock(rung) ?? none)] : []),
            ...ours,
          ],
        }
      }),
  }
}
