/** What `doctor`, `history`, `regress`, `sanitize` and `tune` print with `--json`. */
import { DoctorReport } from '../../../contract/index'
import { documentKind } from './document'
import { historyShape } from '../../../domain/history/history'
import { regressShape } from '../../../domain/regress/report'
import { SanitizeReport, sanitizeReportVersion } from '../../../domain/session/sanitizer'
import { tuneShape } from '../../../domain/tune/report'

// What `doctor --json` prints.

export const doctorDocument = documentKind({
  name: 'doctor',
  version: 2,
  title: 'doctor',
  description: 'What `kernel-ladder doctor --json` prints: what this machine has and lacks.',
  fields: DoctorReport.shape,
})

export const historyDocument = documentKind({
  name: 'history',
  version: 1,
  title: 'history',
  description:
    'What `kernel-ladder history --json` prints: the times of a ladder’s rungs over its sessions, and where they changed. docs/HISTORY.md explains it.',
  fields: historyShape,
})

export const regressDocument = documentKind({
  name: 'regress',
  version: 1,
  title: 'regress',
  description:
    'What `kernel-ladder regress --json` prints: whether the new code of each rung is slower than the old. docs/REGRESS.md explains it.',
  fields: regressShape,
})

// What `sanitize --json` prints.

const { schema: _schema, ...fields } = SanitizeReport.shape

export const sanitizeDocument = documentKind({
  name: 'sanitize',
  version: sanitizeReportVersion,
  title: 'sanitize',
  description: 'What `kernel-ladder sanitize --json` prints: what each tool found in each rung.',
  fields,
})

export const tuneDocument = documentKind({
  name: 'tune',
  version: 1,
  title: 'tune',
  description:
    'What `kernel-ladder tune --json` prints: every point of a sweep, the best of them timed again in turn, and what each value does. docs/TUNING.md explains it.',
  fields: tuneShape,
})
