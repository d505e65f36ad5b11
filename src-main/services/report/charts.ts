/** The charts of a report outside of the screen: what every rung reaches, and each counter that was collected. */
import { metricDefinition } from '../../domain/metrics'
import type { RungResult } from '../../domain/session'
import { formatGflops, formatValue } from '../../domain/units'
import { barsHeight, barsSvg, type BarChart } from './bars-svg'
import type { Picture } from './save'
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

/** All of them, throughput first. */
export function chartsOf(model: ReportModel): BarChart[] {
  const throughput = throughputChart(model)
  return [...(throughput ? [throughput] : []), ...metricCharts(model)]
}

/** As wide as the text of a page: 170 mm at 96 pixels an inch. */
const picture = { width: 643, labelWidth: 220 }

/** Each as a file; the ids of metrics are words of the registry. */
export const pictures = (model: ReportModel): Picture[] =>
  chartsOf(model).map((chart) => ({
    name: `${chart.id}.svg`,
    text: barsSvg(chart, picture),
    width: picture.width,
    height: barsHeight(chart),
  }))
