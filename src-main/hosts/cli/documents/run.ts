/**
 * The output of `run --json`, `import --json` and `show --json`. The document contains the fields
 * of a session, but omits most of the ladder.
 */
import { z } from 'zod'
import { type FieldsOf, documentKind } from './document'
import { Identifier } from '../../../domain/ladder/rung'
import { Session, sessionSchemaVersion } from '../../../domain/session/session'
import { whyOfSteps } from '../../../domain/why/why-steps'
import { stepShape, stepFields } from './why-fields'

const { target, device, problem, ...rest } = Session.shape

const fields = {
  /** Session folder. Null for a recording, or if nothing was saved. */
  session: z.string().nullable(),
  target,
  device,
  /** The machine that executed the run, if it was remote. */
  host: rest.host,
  problem,
  /** Model and GPU that the predicted times are based on. */
  prediction: rest.prediction,
  ladder: Identifier,
  createdAt: rest.createdAt,
  appVersion: rest.appVersion,
  tools: rest.tools,
  settings: rest.settings,
  completion: rest.completion,
  elapsedSeconds: rest.elapsedSeconds,
  warnings: rest.warnings,
  rungs: rest.rungs,
  /** The profiled program, for a session of a program. */
  program: rest.program,
  /**
   * Reasons why each rung is faster or slower than the previous rung. The `diff` document also
   * contains source lines.
   */
  steps: z.array(z.object(stepShape)),
}

export const runDocument = documentKind({
  name: 'run',
  // Use the version of the session schema, because most fields are those of a session.
  version: sessionSchemaVersion,
  title: 'run, import, profile and show',
  description:
    'What `kernel-ladder run --json`, `import --json`, `profile --json` and `show SESSION --json` print: a session, and why its steps are faster or slower. docs/reference/session-format.md explains its fields.',
  fields,
})

/**
 * Returns the fields of the document for a session. `folder` is null if the session is not stored.
 */
export const sessionFields = (session: Session, folder: string | null): FieldsOf<typeof fields> => {
  const { target, device, problem, ladder, ...rest } = session
  return {
    session: folder,
    target,
    device,
    ...(rest.host ? { host: rest.host } : {}),
    problem,
    ...(rest.prediction ? { prediction: rest.prediction } : {}),
    ladder: ladder.id,
    createdAt: rest.createdAt,
    appVersion: rest.appVersion,
    tools: rest.tools,
    settings: rest.settings,
    completion: rest.completion,
    elapsedSeconds: rest.elapsedSeconds,
    warnings: rest.warnings,
    rungs: rest.rungs,
    ...(rest.program ? { program: rest.program } : {}),
    steps: whyOfSteps(session).map(stepFields),
  }
}
