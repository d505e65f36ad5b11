/**
 * Creates the charts for printed and Markdown reports. Bar charts show throughput and counters. The
 * Charts screen draws the other charts.
 */
import { cardMetricIds, metricDefinition } from '../../domain/metrics/metrics'
import { areTimesRanked } from '../../domain/analysis/comparability'
import { numberOfId } from '../../domain/ladder/rung'
import type { RungResult, Session } from '../../domain/session/session'
import { md } from '../../domain/text/markdown'
import {
  leadFigure,
  leadMetric,
  leadOf,
  rateText,
  type Lead,
  type LeadFigure,
} from '../../domain/analysis/lead-figure'
import { formatValue } from '../../domain/metrics/units'
import {
  barsHeight,
  barsSvg,
  referenceOf,
  type Bar,
  type BarChart,
  type Layout,
  sizeOfSvg,
} from './bars-svg'
import type { Picture } from './save'
import type { ComparisonModel } from './comparison'
import { html } from './html-markup'
import type { ReportModel } from './model'
import type { Drawing } from '../../domain/report/chart-drawings'

/**
 * Returns a rung's number and title, such as `05 2D thread tile`. Returns only the title if the id
 * has no leading number.
 */
const numbered = ({ id, title }: RungResult): string =>
  `${numberOfId(id) ?? ''} ${title}`.trimStart()

/** Returns the axis unit, whose prefix is one step larger than the prefix of the values' unit. */
const rateUnit = ({ of }: Lead): string => (of === 'bytes' ? 'TB/s' : 'TFLOP/s')

const rateBar = (figure: LeadFigure | null, status: string): Pick<Bar, 'value' | 'text'> => ({
  value: figure?.rate.value ?? null,
  text: rateText(figure) || status,
})

function throughputChart({ rows, session }: ReportModel): BarChart | null {
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

/**
 * Returns a chart that compares two sessions. Each rung has a bar for the first session above a bar
 * for the second session. Returns null if no rung has a time. Also returns null if the GPUs or the
 * L2 cache states differ, because adjacent bars imply a ranking.
 */
export function pairChart({ rungs, a: first, b: second }: ComparisonModel): BarChart | null {
  const lead = leadOf(first)
  const bar = (label: string, rung: RungResult, isFirst: boolean): Bar => ({
    label,
    ...rateBar(leadFigure(isFirst ? first : second, rung, lead), rung.status),
    isReference: isFirst,
  })
  if (!areTimesRanked(first, second)) return null
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

function metricChart({ rows, metrics }: ReportModel, id: string): BarChart | null {
  const metric = metrics.find((one) => one.id === id)
  const definition = metricDefinition(id)
  if (!metric || metric.isAbsent || !definition) return null
  return {
    id,
    title: `${metric.label}${definition.unit === '%' ? ' (%)' : ''}`,
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
  }
}

/**
 * A chart in a report. This module draws bar charts, and the Charts screen draws the other charts.
 */
export type ReportChart = {
  /** Name that the user types to request the chart. */
  word: string
  caption: string | null
} & ({ bars: BarChart } | { drawing: Drawing })

/** Charts from the Charts screen that a printed report includes by default. */
export const usualDrawings = ['roofline', 'stalls', 'traffic', 'occupancy'] as const

/**
 * Returns the lead counter and the card-level counters. All other counters appear only in tables.
 */
export const usualBars = (session: Session): string[] => [
  ...new Set([leadMetric(session), ...cardMetricIds]),
]

/** Metrics per rung that the occupancy chart already shows. */
const inOccupancy = ['wavesPerSm', 'theoreticalOccupancy', 'achievedOccupancy']

function usualWords({ session, metrics, drawn, captions }: ReportModel): string[] {
  const bars = usualBars(session).filter(
    (id) => !drawn.has('occupancy') || !inOccupancy.includes(id) || id in captions,
  )
  return [
    'throughput',
    ...usualDrawings.filter((word) => drawn.has(word)),
    ...metrics.map(({ id }) => id).filter((id) => bars.includes(id)),
  ]
}

/** Returns the chosen charts in the requested order, or a default selection. */
export function chartsOf(model: ReportModel): ReportChart[] {
  return (model.charts ?? usualWords(model)).flatMap((word): ReportChart[] => {
    const caption = model.captions[word] ?? null
    const drawing = model.drawn.get(word)
    if (drawing) return [{ word, caption, drawing }]
    const bars = word === 'throughput' ? throughputChart(model) : metricChart(model, word)
    return bars ? [{ word, caption, bars }] : []
  })
}

/** Maximum number of bars below a heading on one page. */
const mostBars = 44

/** Splits a chart that has too many bars for a page into several charts with the same scale. */
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

/** Returns the charts as figures for print. Splits a chart that would not fit on a page. */
export const chartFigures = (chart: BarChart, layout: Layout): string[] =>
  piecesOf(chart).map((piece) => `<figure>${barsSvg(piece, layout)}</figure>`)

/** Width of a page's text area: 170 mm at 96 dpi. */
const picture = { width: 643, labelWidth: 220 }

const asPicture = (chart: BarChart): Picture => ({
  name: `${chart.id}.svg`,
  text: barsSvg(chart, picture),
  width: picture.width,
  height: barsHeight(chart),
})

/** Returns a chart's file name, derived from the chart's name. */
const fileOf = (word: string): string => `${word.replaceAll(/[^A-Za-z0-9_.-]+/g, '-')}.svg`

/** Returns each chart as a file that is named after the chart or the metric id. */
export const pictures = (model: ReportModel): Picture[] =>
  chartsOf(model).map((chart) =>
    'bars' in chart
      ? asPicture(chart.bars)
      : { name: fileOf(chart.word), text: chart.drawing.svg, ...sizeOfSvg(chart.drawing.svg) },
  )

export const comparisonPictures = (model: ComparisonModel): Picture[] =>
  [pairChart(model)].filter((chart) => chart !== null).map(asPicture)

/** Returns a Markdown image that links to a file in the folder next to the document. */
const mdImage = (alternative: string, folder: string, file: string): string =>
  `![${alternative}](${encodeURIComponent(folder)}/${encodeURIComponent(file)})`

export const mdPicture = ({ id, title, description }: BarChart, folder: string): string =>
  mdImage(`${md(title)}. ${md(description)}`, folder, `${id}.svg`)

export const mdChart = (chart: ReportChart, folder: string): string[] => [
  'bars' in chart
    ? mdPicture(chart.bars, folder)
    : mdImage(md(chart.drawing.label), folder, fileOf(chart.word)),
  ...(chart.caption === null ? [] : [`_${md(chart.caption)}_`]),
]

/**
 * Returns a chart as HTML for a printed report. A chart from the Charts screen already contains its
 * description and sources.
 */
export function printChart(chart: ReportChart, layout: Layout): string[] {
  const caption = chart.caption === null ? '' : `<figcaption>${html(chart.caption)}</figcaption>`
  if ('bars' in chart) {
    const figures = chartFigures(chart.bars, layout)
    return figures.map((figure, index) =>
      index === figures.length - 1 ? figure.replace('</figure>', `${caption}</figure>`) : figure,
    )
  }
  const { svg, label } = chart.drawing
  return [
    `<figure class="drawn"><div role="img" aria-label="${html(label)}">${svg}</div>${caption}</figure>`,
  ]
}
