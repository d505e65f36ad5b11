/** What a format is to a report: text of a model, without anything of the machine that makes it. */
import type { ComparisonModel } from '../comparison'
import type { ReportModel } from '../model'

export interface PrintOptions {
  /** CSV of one session with a line a rung in place of a line a figure. */
  wide?: boolean
  /** Markdown: the folder beside it that its pictures lie in; without one it has none. */
  pictures?: string
}

export interface Printer {
  session: (model: ReportModel, options: PrintOptions) => string
  /** Two sessions side by side. */
  comparison: (model: ComparisonModel, options: PrintOptions) => string
}
