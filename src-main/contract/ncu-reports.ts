/** Calls about ncu's own report of a session, which may still be on the machine that made it. */
import { z } from 'zod'
import { ErrorShape } from '../domain/errors'
import { SessionRef } from '../domain/session/session-ref'

const Ref = z.object({ ref: SessionRef })

export const ncuReportCalls = {
  'ncuReport.state': {
    input: Ref,
    output: z.object({
      /** `there`: on the machine that it was made on; `fetching`: on its way. */
      state: z.enum(['none', 'here', 'there', 'fetching']),
      bytes: z.number().int(),
      /** How many bytes are here. */
      done: z.number().int(),
      machine: z.string().nullable(),
      /** Why it was not fetched when it was last asked for. */
      error: ErrorShape.nullable(),
    }),
  },
  /** Begins to fetch it, from where an earlier fetch was cut. */
  'ncuReport.fetch': { input: Ref, output: z.object({}) },
  /** Opens it in the Nsight Compute of the program's machine. */
  'ncuReport.open': { input: Ref, output: z.object({}) },
  /** Its bytes from one on, as many as fit into an answer; `bytes` is its size. */
  'ncuReport.part': {
    input: Ref.extend({ from: z.number().int().nonnegative() }),
    output: z.object({ base64: z.string(), bytes: z.number().int() }),
  },
} as const
