/** A student's saved work on a lab: draft, answers, hints seen, and every attempt. */
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Folders } from '../machine/machine'
import { diskError, makeFolder, replaceFile } from '../disk/disk'
import { LabAnswers, noAnswers } from '../../domain/labs/outcome'

export const LabProgress = z.object({
  draft: z.string().nullable().default(null),
  answers: LabAnswers.default(noAnswers),
  hintsShown: z.number().int().default(0),
  solutionAsked: z.number().int().default(0),
  /** Attempts before this time belong to before the last reset. */
  since: z.string().default(''),
})

export type LabProgress = z.infer<typeof LabProgress>

/** `key` is the lab's ref, converted to a valid folder name. */
export const progressDir = ({ labs }: Folders, key: string): string =>
  join(labs, key.replace(':', '-'))

export const attemptsDir = (folders: Folders, key: string): string =>
  join(progressDir(folders, key), 'attempts')

/** `20261121-030507-1a2b`: sorts by time. */
export function newAttemptFolder(folders: Folders, key: string): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return join(attemptsDir(folders, key), `${stamp}-${randomBytes(2).toString('hex')}`)
}

const fileOf = (folders: Folders, key: string): string =>
  join(progressDir(folders, key), 'progress.json')

/** A damaged file is replaced by a new one; the attempts, which matter more, are stored separately. */
export const readProgress = (folders: Folders, key: string): Promise<LabProgress> =>
  readFile(fileOf(folders, key), 'utf8')
    .then((text) => LabProgress.parse(JSON.parse(text)))
    .catch(() => LabProgress.parse({}))

/** Changes are serialized; a crash leaves the old or the new state. */
const queues = new Map<string, Promise<unknown>>()

export function changeProgress(
  folders: Folders,
  key: string,
  change: (progress: LabProgress) => LabProgress,
): Promise<LabProgress> {
  const work = async (): Promise<LabProgress> => {
    const next = change(await readProgress(folders, key))
    const path = fileOf(folders, key)
    try {
      await makeFolder(progressDir(folders, key))
      await replaceFile(path, JSON.stringify(next), { mode: 0o600 })
    } catch (error) {
      throw diskError(error, path, 'write')
    }
    return next
  }
  const turn = (queues.get(key) ?? Promise.resolve()).then(work, work)
  queues.set(key, turn)
  return turn
}
