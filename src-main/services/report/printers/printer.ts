/**
 * A printer converts a report model to text. The text does not depend on the machine that prints
 * it.
 */
import type { ComparisonModel } from '../comparison'
import type { ReportModel } from '../model'

export interface PrintOptions {
  /** Whether a session's CSV has one row per rung instead of one row per value. */
  wide?: boolean
  /**
   * Folder for a Markdown report's images, next to the report file. If absent, the report has no
   * images.
   */
  pictures?: string
}

export interface Printer {
  session: (model: ReportModel, options: PrintOptions) => string
  /** Prints a comparison of two sessions. */
  comparison: (model: ComparisonModel, options: PrintOptions) => string
}
