/** The call for a rung's deep profile, which is too large to be sent with the session. */
import { z } from 'zod'
import { DeepProfile } from '../domain/session/deep'
import { Identifier } from '../domain/ladder/rung'
import { SessionRef } from '../domain/session/session-ref'

export const DeepRequest = z.object({
  ref: SessionRef,
  rung: Identifier,
})

/** Null if the session, or this rung of it, was not profiled at the deep level. */
export const DeepAnswer = DeepProfile.nullable()
