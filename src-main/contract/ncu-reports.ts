/** Calls about ncu's own report of a session, which may still be on the machine that made it. */
import { z } from 'zod'
import { ErrorShape } from '../domain/errors'
import { SessionRef } from '../domain/session/session-ref'

const Ref = z.object({ ref: SessionRef })

export const ncuReportCalls = {
  'ncuReport.state': {
    input: Ref,
    output: z.object({
      /** `there`: on the machine that made it; `fetching`: being fetched. */
      state: z.enum(['none', 'here', 'there', 'fetching']),
      bytes: z.number().int(),
      /** Bytes that have been fetched. */
      done: z.number().int(),
      machine: z.string().nullable(),
      /** Why the last fetch failed. */
      error: ErrorShape.nullable(),
    }),
  },
  /** Starts to fetch it, resuming an interrupted fetch. */
  'ncuReport.fetch': { input: Ref, output: z.object({}) },
  /** Opens it in Nsight Compute on the program's machine. */
  'ncuReport.open': { input: Ref, output: z.object({}) },
  /** Returns as many of its bytes from `from` on as fit into an answer; `bytes` is its size. */
  'ncuReport.part': {
    input: Ref.extend({ from: z.number().int().nonnegative() }),
    output: z.object({ base64: z.string(), bytes: z.number().int() }),
  },
} as const
