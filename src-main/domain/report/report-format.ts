/**
 * The report formats, and what each may hold.
 *
 * A text format is an entry here, a printer in services/report/printers, and its UI texts.
 */
import { reportSections, type ReportSection } from './frozen-report'

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
/** A word for all sections. */
export const allSections = 'all'

/**
 * What a report has if nothing else is asked for: all, but on paper the steps with their source changes, which fill most
 * pages. Two sessions side by side have no other contents.
 */
export const usualSections = (
  format: ReportFormat,
  { isComparison }: { isComparison: boolean },
): readonly ReportSection[] =>
  format === 'pdf' && !isComparison
    ? sectionsOf(format).filter((section) => section !== 'compare')
    : sectionsOf(format)
export const hasSections = (format: ReportFormat): boolean => sectionsOf(format).length > 0
export const isAuthored = (format: ReportFormat): boolean => formats[format].isAuthored
/** Its charts can be chosen and have captions; an HTML report has the screens. */
export const hasChosenCharts = (format: ReportFormat): boolean =>
  isAuthored(format) && sectionsOf(format).includes('charts')
