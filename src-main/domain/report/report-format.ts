/**
 * The report formats and the sections that each format supports.
 *
 * A new text format needs an entry here, a printer in services/report/printers, and UI strings.
 */
import { reportSections, type ReportSection } from './frozen-report'

export interface FormatFacts {
  readonly mediaType: string
  /** Whether the output is text. Text output depends only on the session, not on the machine. */
  readonly isText: boolean
  /** Supported sections. Formats without sections are a single table. */
  readonly sections: readonly ReportSection[]
  /** Whether the author can add a title and notes. */
  readonly isAuthored: boolean
}

/** LaTeX reports have no charts, because paper authors place figures themselves. */
const withoutCharts = reportSections.filter((section) => section !== 'charts')

/** The formats by file extension. */
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
/** Option value that selects all sections. */
export const allSections = 'all'

/**
 * Returns a report's default sections. PDF reports omit the steps with source changes, because
 * these steps fill most of the pages. A comparison of two sessions has no other sections, so its
 * PDF includes the steps.
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
/**
 * Returns whether the format lets the author choose charts and captions. HTML reports contain the
 * interactive screens instead of selected charts.
 */
export const hasChosenCharts = (format: ReportFormat): boolean =>
  isAuthored(format) && sectionsOf(format).includes('charts')
