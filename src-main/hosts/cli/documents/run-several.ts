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
    /** The requested targets. Targets with a session appear in the same order in `rungs[].on`. */
    targets: z.array(
      z.object({
        target: z.string(),
        /** The session's folder, or null if nothing was saved. */
        session: z.string().nullable(),
        gpu: z.string().nullable(),
        /** The exit code of a run on this target alone. */
        code: z.number().int(),
        /** The reason this target has no session. */
        error: ErrorShape.nullable(),
      }),
    ),
    ...Across.shape,
  },
})
