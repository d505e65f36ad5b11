/**
 * Stores the rows of an interrupted grading, so that the next grading can resume.
 *
 * The journal is in the cache and has one JSON object per line. The journal's key depends on the
 * graded content and the grading machine. If only some submissions are graded, the grading uses a
 * separate file. Every grading of the same folder reads all journals of that folder. A complete
 * grading removes the journals.
 */
import { readFile, readdir, appendFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { makeFolder } from '../disk/disk'
import type { Folders } from '../machine/machine'
import { GradeRow } from '../../domain/labs/grade-row'

const Finished = z.object({ submission: z.string(), row: GradeRow })

/** Values on which a row depends. A grading ignores rows that were stored with different values. */
interface Grading {
  /** Folder that contains the submissions. */
  folder: string
  /** Hash of the lab's content and the judging program. */
  lab: string
  program: string
  target: string
  limits: unknown
  /** The GPUs' names. */
  gpus: readonly string[]
  isolated: unknown
}

/** Returns a hash of the submitted files. */
export const submissionHash = (source: string, answers: string | null): string =>
  createHash('sha256')
    .update(JSON.stringify([source, answers]))
    .digest('hex')

interface FinishedRows {
  /**
   * Returns the student's row for exactly the given submission if an earlier grading finished it.
   */
  find: (student: string, submission: string) => GradeRow | undefined
  /** Adds a row. Ignores write errors, because the only cost is grading the submission again. */
  add: (submission: string, row: GradeRow) => Promise<void>
  /** Removes the rows after all submissions are graded. */
  forget: () => Promise<void>
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    // Skip a line that was truncated because the grading was killed.
    return null
  }
}

export async function openFinishedRows(
  { cache }: Pick<Folders, 'cache'>,
  grading: Grading,
  part: { number: number; of: number } | null = null,
): Promise<FinishedRows> {
  const name = createHash('sha256').update(JSON.stringify(grading)).digest('hex').slice(0, 32)
  const folder = join(cache, 'grades')
  const file = join(folder, part ? `${name}.${part.number}-of-${part.of}.jsonl` : `${name}.jsonl`)
  const all = async (): Promise<string[]> =>
    (await readdir(folder).catch(() => []))
      .filter((other) => other.startsWith(`${name}.`))
      .map((other) => join(folder, other))
  const text = (
    await Promise.all((await all()).map((other) => readFile(other, 'utf8').catch(() => '')))
  ).join('\n')
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
      // Begin with a line break, because the previous line may be truncated.
      await quietly(appendFile(file, `\n${JSON.stringify({ submission, row })}`, { mode: 0o600 }))
    },
    forget: async () => {
      for (const other of await all()) await quietly(rm(other, { force: true }))
    },
  }
}
