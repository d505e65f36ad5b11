/** The output of `compare A B --json`. */
import { documentKind } from './document'
import { SessionComparison } from '../../../domain/programs/session-comparison'

export const compareDocument = documentKind({
  name: 'compare',
  version: 1,
  title: 'two sessions',
  description:
    'What `kernel-ladder compare A B --json` prints: two sessions of any kind, their rungs or kernels in pairs. Times are in milliseconds, ratios are B over A.',
  fields: SessionComparison.shape,
})
