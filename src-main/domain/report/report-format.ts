/** The report formats. A form that is text is an entry here, a printer in services/report/printers, and its words. */

export interface FormatFacts {
  readonly mediaType: string
  /** Text of the session alone, made without anything of the machine that makes it. */
  readonly isText: boolean
  /** Sections of it can be left out; the others are one table. */
  readonly hasSections: boolean
}

/** By the ending of a file. */
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
