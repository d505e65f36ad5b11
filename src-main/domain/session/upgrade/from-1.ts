/** A session of version 1 as one of version 2. Pure, over JSON; what is not as version 1 has it stays as it is. */
import { isRecord, type Json } from './json'
import { withTask } from './problem-1'

export const fromVersion1 = (session: Json): Json =>
  isRecord(session) ? { ...withTask(session), schema: 2 } : session
