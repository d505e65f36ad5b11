/** What a report may hold: its formats, and the charts that it draws. */
import { reportSections, type ReportSection } from './frozen-report'

// The report formats. A text format is an entry here, a printer in services/report/printers, and its UI texts.

export interface FormatFacts {
  readonly mediaType: string
  /** Text made only from the session, independent of the machine that produces it. */
  readonly isText: boolean
  /** The sections that it can have; formats without any are a single table. */
  readonly sections: readonly ReportSection[]
  /** It takes a title and notes of its author's. */
  readonly isAuthored: boolean
}

/** LaTeX includes no pictures: a paper places its figures itself. */
const withoutCharts = reportSections.filter((section) => section !== 'charts')

/** By file extension. */
const formats = {
  html: { mediaType: 'text/html', isText: false, sections: reportSections, isAuthored: false },
  pdf: { mediaType: 'application/pdf', isText: false, sections: reportSections, isAuthored: true },
  md: { mediaType: 'text/markdown', isText: true, sections: reportSections, isAuthored: true },
  csv: { mediaType: 'text/csv', isText: true, sections: [], isAuthored: false },
  json: { mediaType: 'application/json', isText: true, sections: [], isAuthored: false },
  tex: { mediaType: 'application/x-tex', isText: true, sections: withoutCharts, isAuthored: true },
} as const satisfies Record<string, FormatFacts>

export type ReportFormat = keyof typeof formats
export type TextFormat = {
  [F in ReportFormat]: (typeof formats)[F]['isText'] extends true ? F : never
}[ReportFormat]

export const reportFormats = Object.keys(formats) as [ReportFormat, ...ReportFormat[]]

export const textFormats = reportFormats.filter(
  (format): format is TextFormat => formats[format].isText,
)

export const formatFacts = (format: ReportFormat): FormatFacts => formats[format]

export const sectionsOf = (format: ReportFormat): readonly ReportSection[] =>
  formats[format].sections
export const hasSections = (format: ReportFormat): boolean => sectionsOf(format).length > 0
export const isAuthored = (format: ReportFormat): boolean => formats[format].isAuthored
/** Its charts can be chosen and have captions; an HTML report has the screens. */
export const hasChosenCharts = (format: ReportFormat): boolean =>
  isAuthored(format) && sectionsOf(format).includes('charts')

// Charts of the Charts screen as pictures: their names, and what the page that draws them leaves behind.

/** The charts of a session, in list order. */
export const chartIds = [
  'roofline',
  'stalls',
  'mix',
  'traffic',
  'occupancy',
  'waves',
  'sweep',
  'study',
] as const
export type ChartId = (typeof chartIds)[number]

export const isChartId = (word: string | undefined): word is ChartId =>
  chartIds.some((id) => id === word)

/** The levels of memory that a roofline can be of, or every one at once. */
export const rooflineChoices = ['l1', 'l2', 'dram', 'all'] as const
export type RooflineChoice = (typeof rooflineChoices)[number]

/** The scales that stalls can be drawn on. */
export const stallScales = ['warps', 'share'] as const
/** The scales that an instruction mix can be drawn on. */
export const mixScales = ['share', 'count'] as const
export const sweepMeasures = ['toReference', 'toBefore', 'throughput'] as const
export type SweepMeasure = (typeof sweepMeasures)[number]

/** A chart that was drawn. */
export interface Drawing {
  svg: string
  /** The figures in words. */
  label: string
}

/** A chart with the setting of its controls, as `roofline:l2`. */
export interface ChartWord {
  chart: string
  choice: string | undefined
}

export function chartWord(word: string): ChartWord {
  const [chart = '', choice] = word.split(/:(.*)/s)
  return { chart, choice }
}

/** The address at which a report page draws these charts, each with its setting. */
export const drawingAddress = (words: readonly string[]): string =>
  `#/draw/${words.map(encodeURIComponent).join('/')}`

/** The id of the element that then contains the drawing at this place of the list, as SVG text. */
export const drawingElementId = (index: number): string => `kernel-ladder-drawing-${index}`
/** Its attribute with the figures in words. */
export const drawingLabel = 'data-label'
