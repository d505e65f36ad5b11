/** The output of `history --json`. */
import { documentKind } from './document'
import { historyShape } from '../../../domain/history/history'

export const historyDocument = documentKind({
  name: 'history',
  version: 1,
  title: 'history',
  description:
    'What `kernel-ladder history --json` prints: the times of a ladder’s rungs over its sessions, and where they changed. docs/guides/regress.md explains it.',
  fields: historyShape,
})
