/** A student's files: the folder that a lab is started in, the submission, a folder of many, and the rows of a grading that was killed. */
import { lstat, readFile, writeFile, readdir, appendFile, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import type { Lab } from '../../domain/labs/lab'
import { noAnswers, type LabAnswers, GradeRow } from '../../domain/labs/outcome'
import { answersTemplate, parseAnswers } from '../../parsers/labs/lab-answers'
import { diskError, errorCode, makeFolder, pathExists } from '../disk/disk'
import { nameText } from '../disk/names'
import type { LabFolder } from './library'
import { message, type Statement } from '../../domain/messages/message'
import type { Folders } from '../machine/machine'

// A student's files: the folder that a lab is started in, and the submission.

export const submissionFile = 'lab.cu'
export const answersFile = 'answers.yaml'
const maxBytes = 1024 * 1024
/** Enough for several lines per prediction and question. */
const maxAnswerBytes = 64 * 1024

/** A student's text file: a regular file of reasonable size. */
async function readOwn(at: Path, most = maxBytes): Promise<string> {
  const path = typeof at === 'string' ? at : nameText(at)
  let found
  try {
    found = await lstat(at)
  } catch (error) {
    throw inputError(
      errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR'
        ? `There is no file ${path}.`
        : `${path} cannot be read (${errorCode(error) ?? String(error)}).`,
      'Name the file that contains your kernel.',
    )
  }
  if (found.isSymbolicLink())
    throw inputError(`${path} is a symbolic link.`, 'Name the file itself.')
  if (!found.isFile()) throw inputError(`${path} is not a regular file.`, 'Name a .cu file.')
  if (found.size > most)
    throw inputError(
      `${path} has ${found.size} bytes; ${most === maxBytes ? 'a submission' : 'an answers file'} can have at most ${most}.`,
      most === maxBytes
        ? 'Name the source file, not a binary built from it.'
        : 'It contains a number or a word per question.',
    )
  const bytes = await readFile(at).catch((error: unknown) => {
    throw diskError(error, path, 'read')
  })
  if (bytes.includes(0)) throw inputError(`${path} is not a text file: it contains a zero byte.`)
  return new TextDecoder().decode(bytes)
}

/** The code and the answers beside it, as submitted and unparsed. */
export async function readHandedIn(
  file: Path,
): Promise<{ source: string; answers: string | null }> {
  const source = await readOwn(file)
  const bytes = Buffer.from(file)
  if (source.trim() === '') throw inputError(`${nameText(bytes)} is empty.`)
  const beside = below(bytes.subarray(0, bytes.lastIndexOf('/')), Buffer.from(answersFile))
  const present = await lstat(beside).catch(() => null)
  return { source, answers: present === null ? null : await readOwn(beside, maxAnswerBytes) }
}

export interface Submission {
  source: string
  answers: LabAnswers
}

/** The code, and the answers in the given file or, if it exists, in answers.yaml beside the code. */
export async function readSubmission(
  file: string,
  lab: Lab,
  answersPath?: string,
): Promise<Submission> {
  const source = await readOwn(file)
  if (source.trim() === '') throw inputError(`${file} is empty.`)
  const beside = join(dirname(file), answersFile)
  const path = answersPath ?? ((await pathExists(beside)) ? beside : null)
  return {
    source,
    answers:
      path === null
        ? noAnswers
        : parseAnswers(await readOwn(path, maxAnswerBytes), basename(path), lab),
  }
}

const readme = ({ lab, id }: LabFolder): string =>
  [
    `# ${lab.title}`,
    lab.summary,
    `Edit ${submissionFile}, and write your predictions into ${answersFile} before you measure. Then run:`,
    `    kernel-ladder lab check ${id} --file ${submissionFile}`,
    `It takes about ${lab.minutes} minutes. ${lab.hints.length} hints are available in the UI (\`kernel-ladder serve\`).`,
    lab.body.trim(),
    '',
  ].join('\n\n')

/** Writes a student's starting files to a folder; nothing is overwritten. */
export async function startLab(lab: LabFolder, folder: string): Promise<string[]> {
  const texts: [string, string | Uint8Array][] = [
    [submissionFile, lab.starter],
    [answersFile, answersTemplate(lab.lab)],
    ['README.md', readme(lab)],
    ...lab.pictures,
  ]
  for (const [name] of texts)
    if (await pathExists(join(folder, name)))
      throw inputError(
        `${join(folder, name)} already exists.`,
        'Choose another folder; nothing is overwritten.',
      )
  try {
    for (const [name, content] of texts) {
      await makeFolder(dirname(join(folder, name)))
      await writeFile(join(folder, name), content, { flag: 'wx' })
    }
  } catch (error) {
    throw diskError(error, folder, 'write')
  }
  return texts.map(([name]) => name)
}

// A folder of submissions, and the rows of a grading that was killed.

// A folder of submissions: each student is a .cu file, or a folder that contains lab.cu or a single .cu file.

export interface FoundSubmission {
  /** The name as one line of text: bytes that are no UTF-8 and control characters are escaped, as in `\\xff`. */
  student: string
  /** null if there is none; `reason` says why. */
  file: Path | null
  reason: Statement | null
}

/** A path may hold any bytes; text stands for those that are UTF-8. */
type Path = string | Buffer

const below = (folder: Path, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(folder), Buffer.from('/'), name])

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

/** Sorted by name. Hidden entries and other kinds of files are ignored. */
export async function listSubmissions(folder: string): Promise<FoundSubmission[]> {
  let names: Buffer[]
  try {
    names = (await namesIn(folder)).filter((name) => !hasStart(name, '.'))
  } catch (error) {
    throw inputError(
      `${folder} cannot be read as a folder (${errorCode(error) ?? String(error)}).`,
      'Name the folder that contains the submissions.',
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

// Rows of a grading that was killed, so that the next one goes on from there: one JSON object per line, in the
// cache, by what was graded and on what; those of a part of the submissions in a file of the part's own, which every
// grading of the same folder reads. A complete grading removes them all.

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
  /** The names of the GPUs. */
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
      // On a line of its own, also after one that was cut off.
      await quietly(appendFile(file, `\n${JSON.stringify({ submission, row })}`, { mode: 0o600 }))
    },
    forget: async () => {
      for (const other of await all()) await quietly(rm(other, { force: true }))
    },
  }
}
