/** The call for advice on what to change next in a rung. */
import { z } from 'zod'
import { Identifier } from '../domain/ladder/rung'
import { Next } from '../domain/next/next'
import { SessionRef } from '../domain/session/session-ref'

export const NextRequest = z.object({ ref: SessionRef, rung: Identifier })

export const nextCalls = {
  'sessions.next': { input: NextRequest, output: Next },
} as const
