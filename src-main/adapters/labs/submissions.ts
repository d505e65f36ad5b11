/** A folder of submissions: each student is a .cu file, or a folder that contains lab.cu or a single .cu file. */
import { lstat, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { inputError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { errorCode } from '../disk/disk'
import { submissionFile } from './work'

export interface FoundSubmission {
  student: string
  /** null if there is none; `reason` says why. */
  file: string | null
  reason: Statement | null
}

async function inFolder(folder: string, student: string): Promise<FoundSubmission> {
  const sources = (await readdir(folder).catch(() => [] as string[]))
    .filter((name) => name.endsWith('.cu'))
    .sort()
  const chosen = sources.includes(submissionFile)
    ? submissionFile
    : sources.length === 1
      ? sources[0]
      : undefined
  return chosen === undefined
    ? {
        student,
        file: null,
        reason:
          sources.length === 0
            ? message('labs.noSource')
            : message('labs.severalSources', { count: sources.length, file: submissionFile }),
      }
    : { student, file: join(folder, chosen), reason: null }
}

/** Sorted by name. Hidden entries and other kinds of files are ignored. */
export async function listSubmissions(folder: string): Promise<FoundSubmission[]> {
  let names: string[]
  try {
    names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort()
  } catch (error) {
    throw inputError(
      `${folder} cannot be read as a folder (${errorCode(error) ?? String(error)}).`,
      'Name the folder that contains the submissions.',
    )
  }
  const found = await Promise.all(
    names.map(async (name): Promise<FoundSubmission[]> => {
      const path = join(folder, name)
      const entry = await lstat(path)
      if (entry.isDirectory()) return [await inFolder(path, name)]
      return name.endsWith('.cu')
        ? [{ student: basename(name, '.cu'), file: path, reason: null }]
        : []
    }),
  )
  return found.flat()
}
