/** The forms that a report can take. */

/** Text, made without anything of the machine that makes it. */
export const textFormats = ['md', 'csv', 'json', 'tex'] as const
export type TextFormat = (typeof textFormats)[number]
export const reportFormats = ['html', 'pdf', ...textFormats] as const
export type ReportFormat = (typeof reportFormats)[number]

/** Formats of which sections can be left out; the others are one table. */
export const hasSections = (format: ReportFormat): boolean =>
  format === 'html' || format === 'pdf' || format === 'md'
