/** The output of `lab check --json`. */
import { z } from 'zod'
import { documentKind } from './document'
import { LabOutcome, labOutcomeVersion } from '../../../domain/labs/outcome'

const { schema: _schema, ...outcome } = LabOutcome.shape

export const labCheckDocument = documentKind({
  name: 'lab-check',
  version: labOutcomeVersion,
  title: 'lab check',
  description:
    'What `kernel-ladder lab check --json` prints: the outcome of an attempt, check by check. docs/guides/labs.md explains labs.',
  fields: {
    ...outcome,
    /** Folder that contains the attempt. */
    folder: z.string(),
  },
})
