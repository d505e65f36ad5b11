/**
 * Reads a ladder folder of programs: its ladder, and the text files that appear in its commands.
 * Files outside the folder are never read.
 */
import { basename, join } from 'node:path'
import { inputError } from '../../domain/errors'
import type { Ladder } from '../../domain/ladder/ladder'
import { programLadder, type ProgramSettings } from '../../domain/ladder/program-ladder'
import { parseProgramLadder } from '../../parsers/kernels/ladder-document'
import { message } from '../../domain/messages/message'
import { readLadderText, readTextIn, refusalOf, shownPath } from './ladder-folder'

export interface ProgramFolder {
  /** The folder's absolute path. */
  folder: string
  ladder: Ladder
  programs: ProgramSettings
  /** Text files that appear in the commands, by path relative to the folder. */
  sources: ReadonlyMap<string, string>
  /** Relative paths of all files that were read. ladder.yaml comes first. */
  files: string[]
}

/**
 * Reads the folder. Returns null if the folder's ladder contains kernels instead of programs, or is
 * not a valid ladder of programs.
 */
export async function readProgramFolder(
  folder: string,
  isShipped: (id: string) => boolean,
): Promise<ProgramFolder | null> {
  const { path, file, text } = await readLadderText(folder)
  const shown = join(shownPath(path), file)
  const document = parseProgramLadder(text, shown)
  if (!document) return null
  if (isShipped(document.id))
    throw inputError(
      message('written.fault', {
        place: shown,
        fault: message('folders.shippedId', { ladder: document.id }),
      }),
      message('folders.otherId'),
    )
  const { programs, rungs } = document
  const expected = programs.output?.expected
  const why = expected === undefined ? null : await refusalOf(path, expected)
  if (why !== null)
    throw inputError(
      message('written.fault', {
        place: shown,
        fault: message('written.fault', { place: 'programs.output.expected', fault: why }),
      }),
    )

  const sources = new Map<string, string>()
  const fileOf = new Map<string, string>()
  for (const { id, program } of rungs)
    for (const word of program) {
      const name = word.replace(/^\.\//, '')
      if (!isRelative(name) || name === programs.output?.file) continue
      const source = sources.get(name) ?? (await textOf(path, name))
      if (source === null) continue
      sources.set(name, source)
      if (!fileOf.has(id)) fileOf.set(id, `${document.id}/${name}`)
    }
  return {
    folder: path,
    ladder: programLadder(document, path, fileOf),
    programs,
    sources,
    files: [file, ...sources.keys()],
  }
}

const isRelative = (name: string): boolean =>
  name !== '' &&
  !/[\\\0]/.test(name) &&
  name.split('/').every((part) => !['', '.', '..'].includes(part)) &&
  !basename(name).startsWith('.')

/**
 * Returns the text of a file in the folder. Returns null for other arguments of a command, such as
 * an option or a binary.
 */
async function textOf(folder: string, name: string): Promise<string | null> {
  if ((await refusalOf(folder, name)) !== null) return null
  return readTextIn(folder, name).catch(() => null)
}
