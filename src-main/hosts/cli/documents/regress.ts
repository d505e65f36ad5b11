import { regressShape } from '../../../domain/regress/report'
import { documentKind } from './document'

export const regressDocument = documentKind({
  name: 'regress',
  version: 1,
  title: 'regress',
  description:
    'What `kernel-ladder regress --json` prints: whether the new code of each rung is slower than the old. docs/REGRESS.md explains it.',
  fields: regressShape,
})
