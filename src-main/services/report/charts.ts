/** The charts of a report outside of the screen: what every rung reaches, and each counter that was collected. */
import { metricDefinition } from '../../domain/metrics/metrics'
import type { RungResult } from '../../domain/session/session'
import { md } from '../../domain/text/markdown'
import { formatGflops, formatValue } from '../../domain/metrics/units'
import { barsHeight, barsSvg, referenceOf, type Bar, type BarChart, type Layout } from './bars-svg'
import type { Picture } from './save'
import type { ComparisonModel } from './comparison'
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
    description: `One bar per rung, in ladder order${reference === null ? '' : '; the dashed line is the reference'}.`,
    axisText: (value) => String(+(value / 1000).toPrecision(3)),
    bars: rows.map(({ rung, isReference }) => ({
      label: numbered(rung),
      value: rung.timing?.gflops ?? null,
      text: rung.timing ? formatGflops(rung.timing.gflops) : rung.status,
      isReference,
    })),
  }
}

/** Two sessions: each rung's bar of the first session above that of the second; null without a time. */
export function pairChart({ rungs }: ComparisonModel): BarChart | null {
  const bar = (label: string, { timing, status }: RungResult, isFirst: boolean): Bar => ({
    label,
    value: timing?.gflops ?? null,
    text: timing ? formatGflops(timing.gflops) : status,
    isReference: isFirst,
  })
  if (!rungs.some(({ a, b }) => a.timing ?? b.timing)) return null
  return {
    id: 'throughput',
    title: 'Throughput (TFLOP/s) in the first session (gray) and the second',
    description:
      'Two bars per rung, in ladder order: the first session above the second. Derived from the median time.',
    axisText: (value) => String(+(value / 1000).toPrecision(3)),
    reference: null,
    together: 2,
    bars: rungs.flatMap(({ a, b }) => [bar(numbered(a), a, true), bar('', b, false)]),
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
        description: `${definition.meaning} One bar per rung, in ladder order.`,
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

/** Bars that a page holds below a heading. */
const mostBars = 44

/** A chart of more bars than a page holds as several of one scale, each for some of the rungs. */
function piecesOf(chart: BarChart): BarChart[] {
  const { bars } = chart
  const count = Math.ceil(bars.length / mostBars)
  if (count <= 1) return [chart]
  const { together = 1 } = chart
  const size = Math.ceil(bars.length / count / together) * together
  const max = chart.max ?? Math.max(0, ...bars.flatMap(({ value }) => value ?? []))
  const reference = referenceOf(chart)
  return Array.from({ length: count }, (_, index) => ({
    ...chart,
    title: `${chart.title}, ${index + 1} of ${count}`,
    bars: bars.slice(index * size, (index + 1) * size),
    max,
    reference,
  }))
}

/** For print: as many drawings as it takes, none of which is cut by the end of a page. */
export const chartFigures = (chart: BarChart, layout: Layout): string[] =>
  piecesOf(chart).map((piece) => `<figure>${barsSvg(piece, layout)}</figure>`)

/** As wide as the text of a page: 170 mm at 96 pixels an inch. */
const picture = { width: 643, labelWidth: 220 }

const asPicture = (chart: BarChart): Picture => ({
  name: `${chart.id}.svg`,
  text: barsSvg(chart, picture),
  width: picture.width,
  height: barsHeight(chart),
})

/** Each as a file; the ids of metrics are words of the registry. */
export const pictures = (model: ReportModel): Picture[] => chartsOf(model).map(asPicture)

export const comparisonPictures = (model: ComparisonModel): Picture[] =>
  [pairChart(model)].filter((chart) => chart !== null).map(asPicture)

/** A chart in Markdown, from the folder beside it. */
export const mdPicture = ({ id, title, description }: BarChart, folder: string): string =>
  `![${md(title)}. ${md(description)}](${encodeURIComponent(folder)}/${encodeURIComponent(id)}.svg)`
