/** The output of `tune --json`. */
import { documentKind } from './document'
import { tuneShape } from '../../../domain/tune/report'

export const tuneDocument = documentKind({
  name: 'tune',
  version: 1,
  title: 'tune',
  description:
    'What `kernel-ladder tune --json` prints: every point of a sweep, the best points timed again alternately, and the effect of each value. docs/guides/tuning.md explains it.',
  fields: tuneShape,
})
