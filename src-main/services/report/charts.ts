/** The charts of a report outside of the screen: what every rung reaches, and each counter that was collected. */
import { metricDefinition } from '../../domain/metrics'
import type { RungResult } from '../../domain/session'
import { formatGflops, formatValue } from '../../domain/units'
import type { BarChart } from './bars-svg'
import type { ReportModel } from './model'

/** `05 2D thread tile`; the title alone where the id begins with no number. */
const numbered = ({ id, title }: RungResult): string =>
  `${/^\d+/.exec(id)?.[0] ?? ''} ${title}`.trimStart()

export function throughputChart({ rows, session }: ReportModel): BarChart | null {
  if (!rows.some(({ rung }) => rung.timing)) return null
  const { reference } = session.ladder
  return {
    id: 'throughput',
    title: 'Throughput (TFLOP/s), derived from the median time',
    description: `A bar a rung, in the ladder's order${reference === null ? '' : '; the dashed line is the reference'}.`,
    axisText: (value) => String(+(value / 1000).toPrecision(3)),
    bars: rows.map(({ rung, isReference }) => ({
      label: numbered(rung),
      value: rung.timing?.gflops ?? null,
      text: rung.timing ? formatGflops(rung.timing.gflops) : rung.status,
      isReference,
    })),
  }
}

export function metricCharts({ rows, metrics }: ReportModel): BarChart[] {
  return metrics.flatMap(({ id, label, isAbsent }): BarChart[] => {
    const definition = metricDefinition(id)
    if (isAbsent || !definition) return []
    return [
      {
        id,
        title: `${label}${definition.unit === '%' ? ' (%)' : ''}`,
        description: `${definition.meaning} A bar a rung, in the ladder's order.`,
        ...(definition.unit === '%' ? { max: 100 } : {}),
        bars: rows.map(({ rung, isReference }) => {
          const value = rung.metrics[id]?.value ?? null
          return {
            label: rung.id,
            value,
            text: value === null ? 'no figure' : formatValue(value, definition.unit),
            isReference,
          }
        }),
      },
    ]
  })
}
