/** What the deep level knows of a rung, on request: too large to travel with the session. */
import { z } from 'zod'
import { DeepProfile } from '../domain/session/deep'
import { Identifier } from '../domain/ladder/rung'
import { SessionRef } from './session-ref'

export const DeepRequest = z.object({
  ref: SessionRef,
  rung: Identifier,
})

/** Null when the session was not profiled at the deep level, or this rung of it was not. */
export const DeepAnswer = DeepProfile.nullable()
