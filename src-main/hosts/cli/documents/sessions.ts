/** What commands print of sessions with `--json`: runs, shows, diffs and comparisons. */
import { z } from 'zod'
import { Statement } from '../../../domain/messages/message'
import { type WhyStep, Why, whyOfSteps } from '../../../domain/why/why'
import { type FieldsOf, documentKind } from './document'
import { Identifier } from '../../../domain/ladder/rung'
import { Session, sessionSchemaVersion, RungResult } from '../../../domain/session/session'
import { Bottleneck } from '../../../domain/analysis/bottleneck'
import { RungMeasured } from '../../../domain/analysis/rung-measured'
import { DeepProfile, HistogramDelta } from '../../../domain/session/deep'
import { RungComparison } from '../../../domain/analysis/compare'
import { Hunk } from '../../../services/compare'
import { SessionComparison } from '../../../domain/programs/compare-sessions'
import { Across } from '../../../domain/analysis/comparability'
import { ErrorShape } from '../../../domain/errors'

// Why one rung is faster than another, as fields of the documents that compare rungs.

const { limits, causes, unimportant, unexplained, needs } = Why.shape

export const whyShape = {
  limits,
  causes,
  unimportant,
  unexplained,
  needs,
  /** Why there are no causes; null if there are. */
  noCauses: Statement.nullable(),
}

/** Null for a rung that is compared with no other. */
export const whyFields = (why: Why | null): FieldsOf<typeof whyShape> => ({
  limits: why?.limits ?? { a: null, b: null },
  causes: why?.causes ?? [],
  unimportant: why?.unimportant ?? [],
  unexplained: why?.unexplained ?? null,
  needs: why?.needs ?? null,
  noCauses: why?.reason ?? null,
})

export const stepShape = {
  /** The rung that b is compared with. */
  a: z.string(),
  b: z.string(),
  verdict: Why.shape.verdict,
  ...whyShape,
}

export const stepFields = ({ a, b, why }: WhyStep): FieldsOf<typeof stepShape> => ({
  a: a.id,
  b: b.id,
  verdict: why.verdict,
  ...whyFields(why),
})

// What `run --json`, `import --json` and `show --json` print: a session without its ladder.

const { target, device, problem, ...rest } = Session.shape

const fields = {
  /** The session's folder; null for a recording, and if nothing was saved. */
  session: z.string().nullable(),
  target,
  device,
  /** Where a run on another machine was. */
  host: rest.host,
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
  /** What was profiled, of a session of a program. */
  program: rest.program,
  /** Why each rung is faster or slower than the one before; `diff` names source lines too. */
  steps: z.array(z.object(stepShape)),
}

export const runDocument = documentKind({
  name: 'run',
  // Its fields are the session's.
  version: sessionSchemaVersion,
  title: 'run, import, profile and show',
  description:
    'What `kernel-ladder run --json`, `import --json`, `profile --json` and `show SESSION --json` print: a session, and why its steps are faster or slower. docs/SESSION-FORMAT.md explains its fields.',
  fields,
})

/** `folder` is null if the session is not stored in a folder. */
export const sessionFields = (session: Session, folder: string | null): FieldsOf<typeof fields> => {
  const { target, device, problem, ladder, ...rest } = session
  return {
    session: folder,
    target,
    device,
    ...(rest.host ? { host: rest.host } : {}),
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
    ...(rest.program ? { program: rest.program } : {}),
    steps: whyOfSteps(session).map(stepFields),
  }
}

// What `show SESSION --rung R --json` prints.

export const showRungDocument = documentKind({
  name: 'show-rung',
  version: 3,
  title: 'show --rung',
  description:
    'What `kernel-ladder show SESSION --rung R --json` prints: one rung, what limits it, its deep profile, and why it is faster or slower than the one before.',
  fields: {
    /** The session's folder; null of a recording. */
    session: z.string().nullable(),
    rung: RungResult,
    /** null if the rung has no counters to judge by. */
    bottleneck: Bottleneck.nullable(),
    /** null below the deep level. */
    deep: DeepProfile.nullable(),
    /** What a recording measured for the rung; null if none contains it, or this session is that recording. */
    measured: RungMeasured.nullable(),
    /** The rung that it is compared with; null for the first and for the reference. */
    before: z.string().nullable(),
    ...whyShape,
  },
})

// What `diff SESSION A B --json` prints.

export const diffDocument = documentKind({
  name: 'diff',
  version: 3,
  title: 'diff',
  description:
    'What `kernel-ladder diff SESSION A B --json` prints: two rungs side by side, B against A.',
  fields: {
    ...RungComparison.shape,
    ...whyShape,
    /** What the reader should know in addition to the figures. */
    warnings: z.array(Statement),
    source: z.object({ hunks: z.array(Hunk) }),
    /** null unless both rungs have a deep profile. */
    deep: z
      .object({
        /** null if the machine code of either rung is unknown. */
        identicalSass: z.boolean().nullable(),
        opcodes: z.array(HistogramDelta).nullable(),
        stalls: z.array(HistogramDelta).nullable(),
      })
      .nullable(),
  },
})

// What `compare A B --json` prints.

export const compareDocument = documentKind({
  name: 'compare',
  version: 1,
  title: 'two sessions',
  description:
    'What `kernel-ladder compare A B --json` prints: two sessions of any kind, their rungs or kernels in pairs. Times are in milliseconds, ratios are B over A.',
  fields: SessionComparison.shape,
})

// What `run --target A,B --json` prints.

export const runSeveralDocument = documentKind({
  name: 'run-several',
  version: 1,
  title: 'run on several targets',
  description:
    'What `kernel-ladder run --target A,B --json` prints: a session for each target, and their rungs beside each other. docs/MACHINES.md explains it.',
  fields: {
    /** As asked for; those with a session are, in their order, what `rungs[].on` has. */
    targets: z.array(
      z.object({
        target: z.string(),
        /** The session's folder; null if nothing was saved. */
        session: z.string().nullable(),
        gpu: z.string().nullable(),
        /** The exit code of a run on it alone. */
        code: z.number().int(),
        /** Why there is no session. */
        error: ErrorShape.nullable(),
      }),
    ),
    ...Across.shape,
  },
})
