/**
 * Finds the submissions in a folder. Each student's submission is a .cu file or a folder.
 *
 * A student's folder contains lab.cu or exactly one .cu file.
 */
import { lstat, readdir } from 'node:fs/promises'
import { inputError } from '../../domain/errors'
import { errorCode } from '../disk/disk'
import { nameText } from '../disk/names'
import { message, type Statement } from '../../domain/messages/message'
import { below, type Path, submissionFile } from './submission-path'

export interface FoundSubmission {
  /**
   * The student's name, on one line. Invalid UTF-8 and control characters are escaped, as in
   * `\\xff`.
   */
  student: string
  /**
   * The submitted file. Null if there is no usable file; `reason` then explains why.
   */
  file: Path | null
  reason: Statement | null
}

const hasEnding = (name: Buffer, ending: string): boolean =>
  name.subarray(-ending.length).toString('latin1') === ending

const namesIn = async (folder: Path): Promise<Buffer[]> =>
  (await readdir(folder, { encoding: 'buffer' })).sort((a, b) => Buffer.compare(a, b))

async function inFolder(folder: Path, student: string): Promise<FoundSubmission> {
  const sources = (await namesIn(folder).catch(() => [])).filter((name) => hasEnding(name, '.cu'))
  const chosen =
    sources.find((name) => name.equals(Buffer.from(submissionFile))) ??
    (sources.length === 1 ? sources[0] : undefined)
  return chosen === undefined
    ? {
        student,
        file: null,
        reason:
          sources.length === 0
            ? message('labs.noSource')
            : message('labs.severalSources', { count: sources.length, file: submissionFile }),
      }
    : { student, file: below(folder, chosen), reason: null }
}

/**
 * Returns submissions sorted by name. Ignores hidden entries and files without the ending `.cu`.
 */
export async function listSubmissions(folder: string): Promise<FoundSubmission[]> {
  let names: Buffer[]
  try {
    names = (await namesIn(folder)).filter((name) => !hasStart(name, '.'))
  } catch (error) {
    throw inputError(
      `${folder} cannot be read as a folder (${errorCode(error) ?? String(error)}).`,
      'Give the folder that contains the submissions.',
    )
  }
  const found = await Promise.all(
    names.map(async (name): Promise<FoundSubmission[]> => {
      const path = below(folder, name)
      const entry = await lstat(path).catch(() => null)
      if (entry?.isDirectory()) return [await inFolder(path, nameText(name))]
      return hasEnding(name, '.cu')
        ? [{ student: nameText(name.subarray(0, -'.cu'.length)), file: path, reason: null }]
        : []
    }),
  )
  return found.flat()
}

const hasStart = (name: Buffer, start: string): boolean =>
  name.subarray(0, start.length).toString('latin1') === start
