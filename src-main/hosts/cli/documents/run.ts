/** What `run --json`, `import --json` and `show --json` print: a session without its ladder. */
import { z } from 'zod'
import { Identifier } from '../../../domain/ladder/rung'
import { Session, sessionSchemaVersion } from '../../../domain/session/session'
import { documentKind, type FieldsOf } from './document'

const { target, device, problem, ...rest } = Session.shape

const fields = {
  /** The session's folder; null for a recording, and if nothing was saved. */
  session: z.string().nullable(),
  target,
  device,
  problem,
  ladder: Identifier,
  createdAt: rest.createdAt,
  appVersion: rest.appVersion,
  tools: rest.tools,
  settings: rest.settings,
  completion: rest.completion,
  elapsedSeconds: rest.elapsedSeconds,
  warnings: rest.warnings,
  rungs: rest.rungs,
}

export const runDocument = documentKind({
  name: 'run',
  // Its fields are the session's.
  version: sessionSchemaVersion,
  title: 'run, import and show',
  description:
    'What `kernel-ladder run --json`, `import --json` and `show SESSION --json` print: a session. docs/SESSION-FORMAT.md explains its fields.',
  fields,
})

/** `folder` is null if the session is not stored in a folder. */
export const sessionFields = (
  { target, device, problem, ladder, ...rest }: Session,
  folder: string | null,
): FieldsOf<typeof fields> => ({
  session: folder,
  target,
  device,
  problem,
  ladder: ladder.id,
  createdAt: rest.createdAt,
  appVersion: rest.appVersion,
  tools: rest.tools,
  settings: rest.settings,
  completion: rest.completion,
  elapsedSeconds: rest.elapsedSeconds,
  warnings: rest.warnings,
  rungs: rest.rungs,
})
