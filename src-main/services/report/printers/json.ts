/** A report as JSON: the session itself in its published schema, or a comparison of two. */
import { visibleJson, withText } from '../../../domain/text/text'
import { comparisonJson } from '../comparison-json'
import type { Printer } from './printer'

export const jsonPrinter: Printer = {
  session: ({ session }) => visibleJson(withText(session)),

  comparison: comparisonJson,
}
