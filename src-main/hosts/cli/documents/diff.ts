/** The output of `diff SESSION A B --json`. */
import { z } from 'zod'
import { Statement } from '../../../domain/messages/message'
import { documentKind } from './document'
import { HistogramDelta } from '../../../domain/session/deep'
import { RungComparison } from '../../../domain/analysis/compare'
import { Hunk } from '../../../services/compare/source-diff'
import { Bar } from '../../../domain/why/waterfall'
import { whyShape } from './why-fields'

export const diffDocument = documentKind({
  name: 'diff',
  version: 3,
  title: 'diff',
  description:
    'What `kernel-ladder diff SESSION A B --json` prints: two rungs side by side, B against A.',
  fields: {
    ...RungComparison.shape,
    ...whyShape,
    /**
     * The bars from the old time to the new time, in the order of the causes. Empty if there are no
     * causes.
     */
    path: z.array(Bar),
    /** Warnings about the figures. */
    warnings: z.array(Statement),
    source: z.object({ hunks: z.array(Hunk) }),
    /** Deep comparison, or null if a rung has no deep profile. */
    deep: z
      .object({
        /**
         * Whether the machine code is identical, or null if either rung's machine code is unknown.
         */
        identicalSass: z.boolean().nullable(),
        opcodes: z.array(HistogramDelta).nullable(),
        stalls: z.array(HistogramDelta).nullable(),
        /**
         * Reason why the stall reasons are not compared. Null if the stall reasons are compared, or
         * if a rung has none.
         */
        noStalls: Statement.nullable(),
      })
      .nullable(),
  },
})
