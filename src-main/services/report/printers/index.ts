/** A printer for each text format. */
import { visibleJson, withText } from '../../../domain/text/text'
import { comparisonJson } from '../comparison'
import type { Printer } from './printer'
import type { TextFormat } from '../../../domain/report/report-format'
import { csvPrinter } from './csv'
import { markdownPrinter } from './markdown'
import { texPrinter } from './tex'

// A report as JSON: the session itself in its published schema, or a comparison of two.

export const jsonPrinter: Printer = {
  session: ({ session }) => visibleJson(withText(session)),

  comparison: comparisonJson,
}

export const printers: Record<TextFormat, Printer> = {
  md: markdownPrinter,
  csv: csvPrinter,
  json: jsonPrinter,
  tex: texPrinter,
}
