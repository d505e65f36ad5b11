/** A report as JSON: the session itself by its published schema, or two of them with what became of each rung. */
import { sessionSchemaVersion } from '../../../domain/session/session'
import { visibleJson } from '../../../domain/text/visible'
import { withText } from '../../../domain/text/wording'
import type { Printer } from './printer'

export const jsonPrinter: Printer = {
  session: ({ session }) => visibleJson(withText(session)),

  comparison: ({ a, b, date, warnings, rungs }) =>
    visibleJson({
      schema: sessionSchemaVersion,
      ...(date === null ? {} : { reportDate: date }),
      warnings,
      a,
      b,
      rungs: rungs.map(({ a: { id }, comparison, hunks }) => ({
        id,
        ...comparison,
        source: { hunks },
      })),
    }),
}
