/** The output of `sessions --json`. */
import { z } from 'zod'
import { SessionSummary } from '../../../contract'
import { documentKind } from './document'

export const sessionsDocument = documentKind({
  name: 'sessions',
  version: 1,
  title: 'sessions',
  description:
    'What `kernel-ladder sessions --json` prints: own sessions, newest first, then the recordings. `ref` is the name for other commands; `left` is the number of older own sessions that were left out.',
  fields: { sessions: z.array(SessionSummary), left: z.number().int() },
})
