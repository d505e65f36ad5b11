/**
 * Reads the shipped lab attempts in the recordings' `labs/` folder.
 *
 * `attempts.jsonl` has one named row per attempt. The same folder has each attempt's session under
 * the attempt's name (disk/shared-sessions.ts).
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { diskError, errorCode } from '../disk/disk'
import { readSession } from '../sessions/session-store'
import {
  LabAttempt,
  parseAs,
  parseJson,
  parseAttempt,
  parseVerdicts,
  type AttemptEvidence,
} from './attempt'

export const recordedLabs = (recordings: string): string => join(recordings, 'labs')

export const attemptListFile = (recordings: string): string =>
  join(recordedLabs(recordings), 'attempts.jsonl')

/** The pattern rejects names that could lead out of the `labs/` folder. */
const Row = z.looseObject({ name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/) })

export type AttemptRow = z.infer<typeof Row>

export interface RecordedAttempt {
  name: string
  /** Folder path that identifies the session. */
  folder: string
  row: AttemptRow
  /** File and row number, for error messages. */
  place: string
}

/**
 * Lists the recorded attempts in file order. Throws an error if a row is damaged. A row's content
 * is validated only when the row is used.
 */
export async function listRecordedAttempts(recordings: string): Promise<RecordedAttempt[]> {
  const file = attemptListFile(recordings)
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return ''
    throw diskError(error, file, 'read')
  })
  return text
    .split('\n')
    .map((line, index) => ({ line, place: `${file}:${index + 1}` }))
    .filter(({ line }) => line !== '')
    .map(({ line, place }) => {
      const row = parseAs(parseJson(line, place), place, Row)
      return { name: row.name, folder: join(recordedLabs(recordings), row.name), row, place }
    })
}

export const recordedOutcomeOf = ({ row, place }: RecordedAttempt): LabAttempt =>
  parseAttempt(row, place)

export const recordedEvidence = async (attempt: RecordedAttempt): Promise<AttemptEvidence> => ({
  session: await readSession(attempt.folder),
  sanitized: parseVerdicts(attempt.row, attempt.place),
})
