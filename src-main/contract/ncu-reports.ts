/**
 * Calls that download or open a session's ncu report. The report may still be on the remote
 * machine.
 */
import { z } from 'zod'
import { ErrorShape } from '../domain/errors'
import { SessionRef } from '../domain/session/session-ref'

const Ref = z.object({ ref: SessionRef })

export const ncuReportCalls = {
  'ncuReport.state': {
    input: Ref,
    output: z.object({
      /** `there`: on the remote machine only. `fetching`: download in progress. */
      state: z.enum(['none', 'here', 'there', 'fetching']),
      bytes: z.number().int(),
      /** Number of bytes downloaded. */
      done: z.number().int(),
      machine: z.string().nullable(),
      /** Error of the last download. */
      error: ErrorShape.nullable(),
    }),
  },
  /** Starts or resumes the download of the report. */
  'ncuReport.fetch': { input: Ref, output: z.object({}) },
  /** Opens the report in Nsight Compute on the machine that runs the core. */
  'ncuReport.open': { input: Ref, output: z.object({}) },
  /**
   * Returns as many bytes of the report as fit into one reply, starting at byte `from`. `bytes` is
   * the report's total size.
   */
  'ncuReport.part': {
    input: Ref.extend({ from: z.number().int().nonnegative() }),
    output: z.object({ base64: z.string(), bytes: z.number().int() }),
  },
} as const
