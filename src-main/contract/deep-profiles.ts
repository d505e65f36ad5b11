/** Call for a rung's deep profile, which is too large to send with the session. */
import { z } from 'zod'
import { DeepProfile } from '../domain/session/deep'
import { Identifier } from '../domain/ladder/rung'
import { SessionRef } from '../domain/session/session-ref'

export const DeepRequest = z.object({
  ref: SessionRef,
  rung: Identifier,
})

/** Deep profile of a rung; null if the rung has none. */
export const DeepAnswer = DeepProfile.nullable()
