/** Calls for recommendations on what to change next in a rung. */
import { z } from 'zod'
import { Identifier } from '../domain/ladder/rung'
import { FirstStep } from '../domain/next/first-step'
import { Next } from '../domain/next/next'
import { SessionRef } from '../domain/session/session-ref'

export const NextRequest = z.object({ ref: SessionRef, rung: Identifier })

/** Maximum number of rungs per request. No table shows more rungs than this limit at a time. */
export const mostFirstSteps = 100

export const FirstStepsRequest = z.object({
  ref: SessionRef,
  rungs: z.array(Identifier).max(mostFirstSteps),
})

export const nextCalls = {
  'sessions.next': { input: NextRequest, output: Next },
  /** First steps by rung id. Rungs that are not in the session are absent. */
  'sessions.firstSteps': { input: FirstStepsRequest, output: z.record(Identifier, FirstStep) },
} as const
