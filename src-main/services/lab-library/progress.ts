/** What the core keeps of a student's work on a lab: the draft, answers, hints seen, and every attempt. */
import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { diskError, makeFolder } from '../../adapters/disk/disk'
import { LabAnswers, noAnswers } from '../../domain/labs/outcome'
import { labsDataDir } from './trust'

export const LabProgress = z.object({
  draft: z.string().nullable().default(null),
  answers: LabAnswers.default(noAnswers),
  hintsShown: z.number().int().default(0),
  solutionAsked: z.number().int().default(0),
  /** Attempts before this time are of an earlier go, which a reset ended. */
  since: z.string().default(''),
})
export type LabProgress = z.infer<typeof LabProgress>

/** `key` is the lab's ref, with a name that a folder can have. */
export const progressDir = (key: string): string => join(labsDataDir(), key.replace(':', '-'))
export const attemptsDir = (key: string): string => join(progressDir(key), 'attempts')

/** `20261121-030507-1a2b`: sorts by time. */
export function newAttemptFolder(key: string): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return join(attemptsDir(key), `${stamp}-${randomBytes(2).toString('hex')}`)
}

const fileOf = (key: string): string => join(progressDir(key), 'progress.json')

/** A damaged file is begun anew: the attempts, which matter more, lie beside it. */
export const readProgress = (key: string): Promise<LabProgress> =>
  readFile(fileOf(key), 'utf8')
    .then((text) => LabProgress.parse(JSON.parse(text)))
    .catch(() => LabProgress.parse({}))

/** One change after the other, each written beside and renamed: a crash leaves the old state or the new. */
const queues = new Map<string, Promise<unknown>>()

export function changeProgress(
  key: string,
  change: (progress: LabProgress) => LabProgress,
): Promise<LabProgress> {
  const work = async (): Promise<LabProgress> => {
    const next = change(await readProgress(key))
    const path = fileOf(key)
    const temporary = `${path}.${randomBytes(4).toString('hex')}`
    try {
      await makeFolder(progressDir(key))
      await writeFile(temporary, JSON.stringify(next), { mode: 0o600 })
      await rename(temporary, path)
    } catch (error) {
      throw diskError(error, path, 'write')
    }
    return next
  }
  const turn = (queues.get(key) ?? Promise.resolve()).then(work, work)
  queues.set(key, turn)
  return turn
}
