/** Lists the printers for all text formats. */
import type { Printer } from './printer'
import type { TextFormat } from '../../../domain/report/report-format'
import { csvPrinter } from './csv'
import { markdownPrinter } from './markdown'
import { texPrinter } from './tex'
import { jsonPrinter } from './json'

export const printers: Record<TextFormat, Printer> = {
  md: markdownPrinter,
  csv: csvPrinter,
  json: jsonPrinter,
  tex: texPrinter,
}
