/** A ladder folder that is watched: what each save did to its rungs. */
import { z } from 'zod'
import { Statement } from '../domain/messages/message'
import { Identifier } from '../domain/ladder/rung'
import { RungResult } from '../domain/session/session'

/** A rung that was run again because it changed. */
export const RungChange = z.object({
  rung: Identifier,
  status: RungResult.shape.status,
  reason: Statement.optional(),
  /** Its status in the run before; null at the first. */
  before: RungResult.shape.status.nullable(),
  /** Its time beside that of the run before; null at the first. */
  time: z
    .object({
      aMs: z.number().nullable(),
      bMs: z.number().nullable(),
      /** Above 1, it is faster now. */
      speedup: z.number().nullable(),
      noise: z.number().nullable(),
      verdict: z.enum(['better', 'worse', 'changed', 'same', 'unknown']),
    })
    .nullable(),
})
export type RungChange = z.infer<typeof RungChange>
