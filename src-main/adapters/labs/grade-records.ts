/**
 * Stores records of graded submissions, for appeals. With a record, a submission can be judged
 * again with the same result. Each grading has a folder with one JSON file per row.
 */
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { inputError, errorText, schemaFault } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { diskError, makeFolder } from '../disk/disk'
import type { Folders } from '../machine/machine'
import { Description } from '../sandbox/confined'
import { GradeRow } from '../../domain/labs/grade-row'

export const gradeRecordVersion = 1

export const GradeRecord = z.object({
  schema: z.literal(gradeRecordVersion),
  student: z.string(),
  /** Id of a shipped lab, or the folder of another lab. */
  lab: z.string(),
  /** Hash of the lab's files at the time of grading. */
  labHash: z.string(),
  source: z.string(),
  /** The submitted answers.yaml, or null if none was submitted. */
  answers: z.string().nullable(),
  target: z.string(),
  /** Random seed for the inputs. */
  seed: z.number().int(),
  appVersion: z.string(),
  /** SHA-256 hash of the judged machine code. Null if the submission did not compile. */
  cubin: z.string().nullable(),
  /** Launch descriptions from the host code, one per problem. */
  descriptions: z.array(Description),
  row: GradeRow,
})
export type GradeRecord = z.infer<typeof GradeRecord>

/** Returns the path for a new folder that will contain a grading's records. */
export function newRecordFolder({ labs }: Pick<Folders, 'labs'>, lab: string): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return join(labs, 'grades', `${lab}-${stamp}-${randomBytes(2).toString('hex')}`)
}

/** Converts a student's name, which can contain any characters, to a file name. */
const fileName = (student: string): string => student.replace(/[^\w.@+-]+/g, '_').slice(0, 60)

export const recordPath = (folder: string, index: number, student: string): string =>
  join(folder, `${String(index + 1).padStart(4, '0')}-${fileName(student)}.json`)

export async function writeRecord(path: string, record: GradeRecord): Promise<void> {
  try {
    await makeFolder(join(path, '..'))
    await writeFile(path, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  } catch (error) {
    throw diskError(error, path, 'write')
  }
}

export async function readRecord(path: string): Promise<GradeRecord> {
  const refuse = (why: string) => inputError(message('files.unreadable', { file: path, why }))
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw diskError(error, path, 'read')
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse(errorText(error))
  }
  const record = GradeRecord.safeParse(value)
  if (!record.success)
    throw inputError(message('files.unreadable', { file: path, why: schemaFault(record.error) }))
  return record.data
}
