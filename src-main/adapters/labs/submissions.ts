/** A folder of submissions, and the rows of a grading that was killed. */
import { lstat, readdir, appendFile, readFile, rm } from 'node:fs/promises'
import { basename, join, dirname } from 'node:path'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { errorCode, makeFolder } from '../disk/disk'
import { submissionFile } from './work'
import { GradeRow } from '../../domain/labs/outcome'
import type { Folders } from '../machine/machine'

// A folder of submissions: each student is a .cu file, or a folder that contains lab.cu or a single .cu file.

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

// Rows of a grading that was killed, so that the next one goes on from there: one JSON object per line, in the
// cache, by what was graded and on what. A complete grading removes its file.

const Finished = z.object({ submission: z.string(), row: GradeRow })

/** What a row depends on: rows of anything else are no rows of this grading. */
export interface Grading {
  /** The folder of the submissions. */
  folder: string
  /** The lab's content and the program that judges, by hash. */
  lab: string
  program: string
  target: string
  limits: unknown
  gpus: readonly string[]
  isolated: unknown
}

/** What was handed in, by hash. */
export const submissionHash = (source: string, answers: string | null): string =>
  createHash('sha256')
    .update(JSON.stringify([source, answers]))
    .digest('hex')

export interface FinishedRows {
  /** The row of this student for this very submission, if an earlier grading finished it. */
  find: (student: string, submission: string) => GradeRow | undefined
  /** A cache that cannot be written to costs only grading again. */
  add: (submission: string, row: GradeRow) => Promise<void>
  /** Once everything is graded. */
  forget: () => Promise<void>
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    // The line that was being written when the grader was killed.
    return null
  }
}

export async function openFinishedRows(
  { cache }: Pick<Folders, 'cache'>,
  grading: Grading,
): Promise<FinishedRows> {
  const name = createHash('sha256').update(JSON.stringify(grading)).digest('hex').slice(0, 32)
  const file = join(cache, 'grades', `${name}.jsonl`)
  const text = await readFile(file, 'utf8').catch(() => '')
  const known = new Map(
    text.split('\n').flatMap((line): [string, GradeRow][] => {
      const { data } = Finished.safeParse(parsed(line))
      return data ? [[JSON.stringify([data.row.student, data.submission]), data.row]] : []
    }),
  )
  const quietly = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => undefined,
      () => undefined,
    )
  return {
    find: (student, submission) => known.get(JSON.stringify([student, submission])),
    async add(submission, row) {
      await quietly(makeFolder(dirname(file)))
      // On a line of its own, also after one that was cut off.
      await quietly(appendFile(file, `\n${JSON.stringify({ submission, row })}`, { mode: 0o600 }))
    },
    forget: () => quietly(rm(file, { force: true })),
  }
}
