/** A printer turns a report model into text, independent of the machine. */
import type { ComparisonModel } from '../comparison'
import type { ReportModel } from '../model'

export interface PrintOptions {
  /** CSV of one session with one row per rung instead of one row per figure. */
  wide?: boolean
  /** Markdown: the folder of its pictures next to the file; without it there are none. */
  pictures?: string
}

export interface Printer {
  session: (model: ReportModel, options: PrintOptions) => string
  /** A comparison of two sessions. */
  comparison: (model: ComparisonModel, options: PrintOptions) => string
}
