/**
 * Stores a student's work on a lab: the draft, the answers, the viewed hints, and every attempt.
 */
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Folders } from '../machine/machine'
import { jsonFile, type JsonFile } from '../disk/json-file'
import { LabAnswers, noAnswers } from '../../domain/labs/outcome'

export const LabProgress = z.object({
  draft: z.string().nullable().default(null),
  /** Time when the draft was saved. */
  draftAt: z.string().nullable().default(null),
  answers: LabAnswers.default(noAnswers),
  hintsShown: z.number().int().default(0),
  solutionAsked: z.number().int().default(0),
  /** Time of the last reset. Attempts before the last reset are ignored. */
  since: z.string().default(''),
})

export type LabProgress = z.infer<typeof LabProgress>

/**
 * Returns the folder that stores a lab's progress. `key` is the lab's ref, which is converted to a
 * valid folder name.
 */
const progressDir = ({ labs }: Folders, key: string): string => join(labs, key.replace(':', '-'))

export const attemptsDir = (folders: Folders, key: string): string =>
  join(progressDir(folders, key), 'attempts')

/**
 * Returns the path for a new folder, such as `20261121-030507-1a2b`. Sorting the names sorts the
 * folders by time.
 */
export function newAttemptFolder(folders: Folders, key: string): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return join(attemptsDir(folders, key), `${stamp}-${randomBytes(2).toString('hex')}`)
}

/**
 * Returns a handle for the progress file. A damaged progress file is replaced. Attempts are more
 * important than the progress file, so they are stored separately.
 */
const progressFile = (folders: Folders, key: string): JsonFile<LabProgress> =>
  jsonFile(join(progressDir(folders, key), 'progress.json'), LabProgress, LabProgress.parse({}))

export const readProgress = (folders: Folders, key: string): Promise<LabProgress> =>
  progressFile(folders, key).read()

export const changeProgress = (
  folders: Folders,
  key: string,
  change: (progress: LabProgress) => LabProgress,
): Promise<LabProgress> => progressFile(folders, key).change(change)
