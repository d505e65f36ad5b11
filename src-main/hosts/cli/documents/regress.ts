/** The output of `regress --json`. */
import { documentKind } from './document'
import { regressShape } from '../../../domain/regress/report'

export const regressDocument = documentKind({
  name: 'regress',
  version: 1,
  title: 'regress',
  description:
    'What `kernel-ladder regress --json` prints: whether the new code of each rung is slower than the old. docs/guides/regress.md explains it.',
  fields: regressShape,
})
