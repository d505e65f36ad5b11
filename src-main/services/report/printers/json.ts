/**
 * Prints a report as JSON: the session in its published schema, or a comparison of two sessions.
 */
import { withText } from '../../../domain/text/english'
import type { Printer } from './printer'
import { visibleJson } from '../../../domain/text/hidden-characters'
import { comparisonJson } from '../comparison-json'

export const jsonPrinter: Printer = {
  session: ({ session }) => visibleJson(withText(session)),

  comparison: comparisonJson,
}
