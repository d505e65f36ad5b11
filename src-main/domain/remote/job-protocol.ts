/** The job that is sent to a remote machine, and the lines that it prints. */
import { z } from 'zod'
import { ErrorShape } from '../errors'
import { Identifier } from '../ladder/rung'

/** `request` and `settings` are those of a run, for this same version of the program. */
export const Job = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('run'),
    request: z.unknown(),
    settings: z.record(z.string(), z.unknown()),
    /** The ladder folder that was sent along and that its user trusts; null for a shipped ladder. */
    folder: z.string().nullable(),
    /** Where the session is saved. */
    out: z.string(),
    /** The ladder folder on the machine that asked. */
    own: z.string().nullable().default(null),
  }),
  /** A command of the command line. */
  z.object({ kind: z.literal('words'), words: z.array(z.string()) }),
])

export type Job = z.infer<typeof Job>

export const JobLine = z.discriminatedUnion('type', [
  /** The first one, also of a job that starts over. */
  z.object({
    type: z.literal('begun'),
    /** The machine that it runs on: a compute node, where a scheduler chose it. */
    host: z.string(),
  }),
  z.object({ type: z.literal('event'), event: z.unknown() }),
  z.object({ type: z.literal('out'), text: z.string() }),
  z.object({ type: z.literal('err'), text: z.string() }),
  /** The last one; a job without it did not end by itself. */
  z.object({
    type: z.literal('end'),
    code: z.number().int(),
    /** The session's folder there; null if nothing finished. */
    folder: z.string().nullable().default(null),
    /** The session's id. */
    id: Identifier.nullable().default(null),
    missing: ErrorShape.nullable().default(null),
    unsaved: ErrorShape.nullable().default(null),
    /** Why there is no result at all. */
    error: ErrorShape.nullable().default(null),
  }),
])

export type JobLine = z.infer<typeof JobLine>

export type JobEnd = Extract<JobLine, { type: 'end' }>
