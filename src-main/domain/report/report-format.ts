/** The report formats. A text format is an entry here, a printer in services/report/printers, and its UI texts. */

export interface FormatFacts {
  readonly mediaType: string
  /** Text made only from the session, independent of the machine that produces it. */
  readonly isText: boolean
  /** It has optional sections; formats without them are a single table. */
  readonly hasSections: boolean
}

/** By file extension. */
const formats = {
  html: { mediaType: 'text/html', isText: false, hasSections: true },
  pdf: { mediaType: 'application/pdf', isText: false, hasSections: true },
  md: { mediaType: 'text/markdown', isText: true, hasSections: true },
  csv: { mediaType: 'text/csv', isText: true, hasSections: false },
  json: { mediaType: 'application/json', isText: true, hasSections: false },
  tex: { mediaType: 'application/x-tex', isText: true, hasSections: false },
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

export const hasSections = (format: ReportFormat): boolean => formats[format].hasSections
