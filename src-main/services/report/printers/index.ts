/** A printer for each text format. */
import type { TextFormat } from '../../../domain/report/report-format'
import { csvPrinter } from './csv'
import { jsonPrinter } from './json'
import { markdownPrinter } from './markdown'
import type { Printer } from './printer'
import { texPrinter } from './tex'

export const printers: Record<TextFormat, Printer> = {
  md: markdownPrinter,
  csv: csvPrinter,
  json: jsonPrinter,
  tex: texPrinter,
}
