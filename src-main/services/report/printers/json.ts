/** A report as JSON: the session itself by its published schema, or two of them with what became of each rung. */
import { visibleJson } from '../../../domain/text/visible'
import { withText } from '../../../domain/text/wording'
import { comparisonJson } from '../comparison-json'
import type { Printer } from './printer'

export const jsonPrinter: Printer = {
  session: ({ session }) => visibleJson(withText(session)),

  comparison: comparisonJson,
}
