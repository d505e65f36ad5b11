/** The output of `sanitize --json`. */
import { documentKind } from './document'
import { SanitizeReport, sanitizeReportVersion } from '../../../domain/session/sanitizer'

const { schema: _schema, ...fields } = SanitizeReport.shape

export const sanitizeDocument = documentKind({
  name: 'sanitize',
  version: sanitizeReportVersion,
  title: 'sanitize',
  description: 'What `kernel-ladder sanitize --json` prints: what each tool found in each rung.',
  fields,
})
