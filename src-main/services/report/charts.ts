/** The charts of printed and Markdown reports: the throughput of every rung, and each collected counter. */
import { metricDefinition } from '../../domain/metrics/metrics'
import type { RungResult } from '../../domain/session/session'
import { md } from '../../domain/text/markdown'
import {
  leadFigure,
  leadOf,
  rateText,
  type Lead,
  type LeadFigure,
} from '../../domain/analysis/lead-figure'
import { formatValue } from '../../domain/metrics/units'
import { barsHeight, barsSvg, referenceOf, type Bar, type BarChart, type Layout } from './bars-svg'
import type { Picture } from './save'
import type { ComparisonModel } from './comparison'
import type { ReportModel } from './model'

/** `05 2D thread tile`; only the title if the id has no leading number. */
const numbered = ({ id, title }: RungResult): string =>
  `${/^\d+/.exec(id)?.[0] ?? ''} ${title}`.trimStart()

/** The axis unit, one prefix above the figures' unit. */
const rateUnit = ({ of }: Lead): string => (of === 'bytes' ? 'TB/s' : 'TFLOP/s')

const rateBar = (figure: LeadFigure | null, status: string): Pick<Bar, 'value' | 'text'> => ({
  value: figure?.rate.value ?? null,
  text: rateText(figure) || status,
})

export function throughputChart({ rows, session }: ReportModel): BarChart | null {
  if (!rows.some(({ rung }) => rung.timing)) return null
  const { reference } = session.ladder
  const lead = leadOf(session)
  return {
    id: 'throughput',
    title: `Throughput (${rateUnit(lead)}), derived from the median time`,
    description: `One bar per rung, in ladder order${reference === null ? '' : '; the dashed line is the reference'}.`,
    axisText: (value) => String(+(value / 1000).toPrecision(3)),
    bars: rows.map(({ rung, isReference }) => ({
      label: numbered(rung),
      ...rateBar(leadFigure(session, rung, lead), rung.status),
      isReference,
    })),
  }
}

/** Two sessions: each rung's bar of the first session above that of the second; null without a time. */
export function pairChart({ rungs, a: first, b: second }: ComparisonModel): BarChart | null {
  const lead = leadOf(first)
  const bar = (label: string, rung: RungResult, isFirst: boolean): Bar => ({
    label,
    ...rateBar(leadFigure(isFirst ? first : second, rung, lead), rung.status),
    isReference: isFirst,
  })
  if (!rungs.some(({ a, b }) => a.timing ?? b.timing)) return null
  return {
    id: 'throughput',
    title: `Throughput (${rateUnit(lead)}) in the first session (gray) and the second`,
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

/** Bars that fit on a page below a heading. */
const mostBars = 44

/** Splits a chart with too many bars for a page into several with the same scale. */
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

/** For print: as many drawings as needed, so that none is cut by a page break. */
export const chartFigures = (chart: BarChart, layout: Layout): string[] =>
  piecesOf(chart).map((piece) => `<figure>${barsSvg(piece, layout)}</figure>`)

/** The text width of a page: 170 mm at 96 dpi. */
const picture = { width: 643, labelWidth: 220 }

const asPicture = (chart: BarChart): Picture => ({
  name: `${chart.id}.svg`,
  text: barsSvg(chart, picture),
  width: picture.width,
  height: barsHeight(chart),
})

/** Each as a file, named by the registry's metric ids. */
export const pictures = (model: ReportModel): Picture[] => chartsOf(model).map(asPicture)

export const comparisonPictures = (model: ComparisonModel): Picture[] =>
  [pairChart(model)].filter((chart) => chart !== null).map(asPicture)

/** A chart in Markdown, from the folder next to the file. */
export const mdPicture = ({ id, title, description }: BarChart, folder: string): string =>
  `![${md(title)}. ${md(description)}](${encodeURIComponent(folder)}/${encodeURIComponent(id)}.svg)`
