/**
 * Defines the format of a job for a remote machine, and the format of the lines that the job
 * prints.
 */
import { z } from 'zod'
import { ErrorShape } from '../errors'
import { Identifier } from '../ladder/rung'

/**
 * A job for a remote machine. `request` and `settings` describe a run. Both machines must use the
 * same version of the program.
 */
export const Job = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('run'),
    request: z.unknown(),
    settings: z.record(z.string(), z.unknown()),
    /**
     * Folder on the remote machine that contains a copy of the trusted ladder, or null for a
     * built-in ladder.
     */
    folder: z.string().nullable(),
    /** Session folder on the remote machine. */
    out: z.string(),
    /** Path to the ladder folder on the requesting machine. */
    own: z.string().nullable().default(null),
  }),
  /** A command line to run on the remote machine. */
  z.object({ kind: z.literal('words'), words: z.array(z.string()) }),
])

export type Job = z.infer<typeof Job>

export const JobLine = z.discriminatedUnion('type', [
  /** First line that a job prints. A restarted job prints this line again. */
  z.object({
    type: z.literal('begun'),
    /** Name of the machine that runs the job, such as a compute node. */
    host: z.string(),
  }),
  z.object({ type: z.literal('event'), event: z.unknown() }),
  z.object({ type: z.literal('out'), text: z.string() }),
  z.object({ type: z.literal('err'), text: z.string() }),
  /** Last line that a job prints. If this line is missing, the job did not end normally. */
  z.object({
    type: z.literal('end'),
    code: z.number().int(),
    /** Session folder on the remote machine, or null if no rung finished. */
    folder: z.string().nullable().default(null),
    /** Session id. */
    id: Identifier.nullable().default(null),
    missing: ErrorShape.nullable().default(null),
    unsaved: ErrorShape.nullable().default(null),
    /** Reason why the job has no result. */
    error: ErrorShape.nullable().default(null),
  }),
])

export type JobLine = z.infer<typeof JobLine>

export type JobEnd = Extract<JobLine, { type: 'end' }>
