/** The job that is sent to a remote machine, and the lines that the job prints. */
import { z } from 'zod'
import { ErrorShape } from '../errors'
import { Identifier } from '../ladder/rung'

/**
 * A job for a remote machine. `request` and `settings` describe a run for the same version of the
 * program.
 */
export const Job = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('run'),
    request: z.unknown(),
    settings: z.record(z.string(), z.unknown()),
    /**
     * The trusted ladder folder that was copied to the remote machine; null for a built-in ladder.
     */
    folder: z.string().nullable(),
    /** Folder for the session. */
    out: z.string(),
    /** Path of the ladder folder on the requesting machine. */
    own: z.string().nullable().default(null),
  }),
  /** A command line for the remote machine. */
  z.object({ kind: z.literal('words'), words: z.array(z.string()) }),
])

export type Job = z.infer<typeof Job>

export const JobLine = z.discriminatedUnion('type', [
  /** First line of a job. A restarted job prints it again. */
  z.object({
    type: z.literal('begun'),
    /** Name of the machine that runs the job. With a scheduler, it is a compute node. */
    host: z.string(),
  }),
  z.object({ type: z.literal('event'), event: z.unknown() }),
  z.object({ type: z.literal('out'), text: z.string() }),
  z.object({ type: z.literal('err'), text: z.string() }),
  /** Last line of a job. Without it, the job did not end normally. */
  z.object({
    type: z.literal('end'),
    code: z.number().int(),
    /** The session's folder on the remote machine; null if nothing finished. */
    folder: z.string().nullable().default(null),
    /** Id of the session. */
    id: Identifier.nullable().default(null),
    missing: ErrorShape.nullable().default(null),
    unsaved: ErrorShape.nullable().default(null),
    /** Reason that the job has no result. */
    error: ErrorShape.nullable().default(null),
  }),
])

export type JobLine = z.infer<typeof JobLine>

export type JobEnd = Extract<JobLine, { type: 'end' }>
