/** A report as JSON: the session itself in its published schema, or a comparison of two. */
import { visibleJson } from '../../../domain/text/visible'
import { withText } from '../../../domain/text/wording'
import { comparisonJson } from '../comparison-json'
import type { Printer } from './printer'

export const jsonPrinter: Printer = {
  session: ({ session }) => visibleJson(withText(session)),

  comparison: comparisonJson,
}
