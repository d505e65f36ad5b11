/** Handles a student's files: the lab's starter folder and the submission. */
import { lstat, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { inputError } from '../../domain/errors'
import type { Lab } from '../../domain/labs/lab'
import { noAnswers, type LabAnswers } from '../../domain/labs/outcome'
import { answersTemplate, parseAnswers } from '../../parsers/labs/lab-answers'
import { diskError, errorCode, makeFolder, pathExists } from '../disk/disk'
import { nameText } from '../disk/names'
import type { LabFolder } from './lab-folders'
import { below, type Path, submissionFile, answersFile } from './submission-path'
const maxBytes = 1024 * 1024
/**
 * Maximum size of the answer file in bytes, which leaves room for several lines per prediction and
 * question.
 */
const maxAnswerBytes = 64 * 1024

/**
 * Reads a student's text file. Throws an error if the path is not a regular file or the file is too
 * large.
 */
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
      'Give the file that contains your kernel.',
    )
  }
  if (found.isSymbolicLink())
    throw inputError(`${path} is a symbolic link.`, 'Give the file itself.')
  if (!found.isFile()) throw inputError(`${path} is not a regular file.`, 'Name a .cu file.')
  if (found.size > most)
    throw inputError(
      `${path} has ${found.size} bytes; ${most === maxBytes ? 'a submission' : 'an answers file'} can have at most ${most}.`,
      most === maxBytes
        ? 'Give the source file, not a binary built from it.'
        : 'It contains a number or a word per question.',
    )
  const bytes = await readFile(at).catch((error: unknown) => {
    throw diskError(error, path, 'read')
  })
  if (bytes.includes(0)) throw inputError(`${path} is not a text file: it contains a zero byte.`)
  return new TextDecoder().decode(bytes)
}

/** Reads the code and the answer file next to it, as submitted and unparsed. */
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

interface Submission {
  source: string
  answers: LabAnswers
}

/** Reads the code and the answers. By default, the answers are in answers.yaml next to the code. */
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

/** Writes a student's starter files to a folder. Never overwrites files. */
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
