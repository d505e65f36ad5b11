/** A printer converts a report model to text, independently of the machine. */
import type { ComparisonModel } from '../comparison'
import type { ReportModel } from '../model'

export interface PrintOptions {
  /** Whether the CSV of a session has one row per rung instead of one row per figure. */
  wide?: boolean
  /**
   * Folder of a Markdown report's pictures, next to the file. Without a folder, the report has no
   * pictures.
   */
  pictures?: string
}

export interface Printer {
  session: (model: ReportModel, options: PrintOptions) => string
  /** Prints a comparison of two sessions. */
  comparison: (model: ComparisonModel, options: PrintOptions) => string
}
