/** The output of `run --target A,B --json`. */
import { z } from 'zod'
import { documentKind } from './document'
import { ErrorShape } from '../../../domain/errors'
import { Across } from '../../../domain/analysis/across-machines'

export const runSeveralDocument = documentKind({
  name: 'run-several',
  version: 1,
  title: 'run on several targets',
  description:
    'What `kernel-ladder run --target A,B --json` prints: a session for each target, and their rungs side by side. docs/guides/machines.md explains it.',
  fields: {
    /**
     * Requested targets. `rungs[].on` lists, in the same order, the targets that have a session.
     */
    targets: z.array(
      z.object({
        target: z.string(),
        /** Session folder, or null if nothing was saved. */
        session: z.string().nullable(),
        gpu: z.string().nullable(),
        /** Exit code that a run on only this target would return. */
        code: z.number().int(),
        /** Reason why this target has no session. */
        error: ErrorShape.nullable(),
      }),
    ),
    ...Across.shape,
  },
})
