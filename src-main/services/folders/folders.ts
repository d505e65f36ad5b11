/** Opens, lists, saves, and builds ladder folders for the UI. */
import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { errorCode, pathExists } from '../../adapters/disk/disk'
import {
  headersBelow,
  ladderFileIn,
  ladderFileNames,
  readLadderFolder,
  rungFile,
  type LadderFolder,
} from '../../adapters/catalog/ladder-folder'
import { readCatalog, sentenceOf } from '../../adapters/catalog/catalog'
import type {
  FolderFault,
  FolderFile,
  FolderView,
  RecentFolder,
  SaveAnswer,
} from '../../contract/folders'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Ladder } from '../../domain/ladder/ladder'
import { referenceFile } from '../../domain/task/task'
import { inEnglish } from '../../domain/text/english'
import type { ProgramFolder } from '../../adapters/catalog/program-folder'
import { openPrograms } from './open'
import { resolveLadder } from '../catalog/resolve'
import { readFolderFile, saveFolderFile } from '../../adapters/catalog/folder-file'
import { isTrustedFolder, trustFolder } from './folder-trust'
import { forgetFolder, recentFolders, rememberFolder } from './recent-folders'
import { placedFaults } from './placed-faults'

/** Expands `~` in a path such as `~/kernels`, as a shell does. */
const expanded = ({ machine }: Setup, typed: string): string =>
  /^~(?=$|[\\/])/.test(typed) ? join(machine.folders.home, typed.slice(1)) : typed

/** Returns the folder's real path. Throws an error if the folder contains no ladder file. */
async function locate(setup: Setup, typed: string): Promise<string> {
  const path = resolve(expanded(setup, typed.trim()))
  const real = await realpath(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR')
      throw inputError(message('folders.none', { folder: path }), message('folders.giveFolder'))
    throw inputError(message('folders.cannotOpen', { folder: path, text: errorCode(error) ?? '?' }))
  })
  if ((await ladderFileIn(real)) === null)
    throw inputError(message('folders.noLadder', { folder: path }), message('folders.giveLadder'))
  return real
}

interface ReadFolder {
  own: LadderFolder | null
  /** Present only if the ladder is a ladder of programs. */
  programs?: ProgramFolder
  ladder: Ladder | null
  faults: FolderFault[]
}

/**
 * Reads a ladder folder and collects the errors in its files. If there are errors, the result has
 * no ladder.
 */
async function read(setup: Setup, path: string): Promise<ReadFolder> {
  try {
    const programs = await openPrograms(setup, path)
    if (programs) return { own: null, programs, ladder: programs.ladder, faults: [] }
    const own = await readLadderFolder(path, await readCatalog(setup.assets.kernelsDir))
    const faults = [...own.catalog.faults.values()].flatMap((fault) => placedFaults(fault, path))
    if (faults.length > 0) return { own, ladder: null, faults }
    try {
      return { own, ladder: resolveLadder(own.catalog, own.ladder), faults }
    } catch (error) {
      return { own, ladder: null, faults: placedFaults(sentenceOf(error), path) }
    }
  } catch (error) {
    return { own: null, ladder: null, faults: placedFaults(sentenceOf(error), path) }
  }
}

/**
 * Returns the files that the user can edit: headers and all files named in the ladder, including
 * missing files.
 */
async function editedFiles(
  path: string,
  { own, programs }: Pick<ReadFolder, 'own' | 'programs'>,
): Promise<FolderFile[]> {
  const found: FolderFile[] = []
  const add = async (name: string, kind: FolderFile['kind']): Promise<void> => {
    if (found.some((file) => file.name === name)) return
    const text = await readFolderFile(path, name).catch((error: unknown) => ({
      text: '',
      version: null,
      locked: inEnglish(sentenceOf(error)),
    }))
    found.push({ name, kind, ...(text ?? { text: '', version: null, locked: null }) })
  }
  await add((await ladderFileIn(path)) ?? ladderFileNames[0], 'ladder')
  for (const name of programs?.sources.keys() ?? []) await add(name, 'rung')
  if (!own) return found
  const reference = referenceFile(own.task)
  for (const { id } of own.ladder.rungs) {
    // If two files match a rung, the ladder already has an error that names both files.
    const name = await rungFile(path, id).catch(() => `${id}.cu`)
    if (name !== reference) await add(name, 'rung')
  }
  if (reference !== null) await add(reference, 'reference')
  for (const name of await headersBelow(path)) await add(name, 'header')
  return found
}

export async function openFolder(setup: Setup, typed: string): Promise<FolderView> {
  const { folders } = setup.machine
  const path = await locate(setup, typed)
  const { own, programs, ladder, faults } = await read(setup, path)
  await rememberFolder(folders, path)
  return {
    path,
    trusted: await isTrustedFolder(folders, path),
    ladder,
    faults,
    files: await editedFiles(path, { own, ...(programs ? { programs } : {}) }),
  }
}

export async function listFolders(setup: Setup): Promise<RecentFolder[]> {
  const { folders } = setup.machine
  return Promise.all(
    (await recentFolders(folders)).map(async ({ folder, openedAt }): Promise<RecentFolder> => {
      const base = { path: folder, openedAt }
      if ((await ladderFileIn(folder)) === null)
        return { ...base, state: 'gone', trusted: false, ladder: null }
      const { ladder } = await read(setup, folder)
      const trusted = await isTrustedFolder(folders, folder).catch(() => false)
      return { ...base, state: ladder ? 'ready' : 'faulty', trusted, ladder }
    }),
  )
}

/**
 * Returns the current folder of a session's ladder, or null if no folder contains that ladder.
 * Tries the folder in which the session ran, and folders that the user opened later.
 */
export async function folderOf(
  setup: Setup,
  { id, folder }: Pick<Ladder, 'id' | 'folder'>,
): Promise<string | null> {
  const opened = await recentFolders(setup.machine.folders)
  for (const path of [
    ...(folder === undefined ? [] : [folder]),
    ...opened.map((one) => one.folder),
  ]) {
    // A report stores only the folder's name, not its path.
    if (!isAbsolute(path) || (await ladderFileIn(path)) === null) continue
    const { own, programs } = await read(setup, path)
    const found = own ?? programs
    // Accept an unreadable ladder file, because the editor shows its errors.
    if (found ? found.ladder.id === id : path === folder) return realpath(path)
  }
  return null
}

export const forgetOpened = ({ machine }: Setup, path: string): Promise<void> =>
  forgetFolder(machine.folders, path)

/** Rejects a path that the user has not opened, because web pages can send any path. */
export async function requireOpened({ machine }: Setup, path: string): Promise<string> {
  if ((await recentFolders(machine.folders)).some(({ folder }) => folder === path)) return path
  throw inputError(message('folders.notOpen', { folder: path }), message('folders.openFirst'))
}

export async function trustOpened(setup: Setup, path: string): Promise<void> {
  await trustFolder(setup.machine.folders, await locate(setup, await requireOpened(setup, path)))
}

const mostCompletions = 50

/**
 * Returns subfolders of the home directory. Links are not followed. Hidden folders are included
 * only if the name that the user typed begins with a dot.
 */
export async function completeFolder(
  setup: Setup,
  typed: string,
): Promise<{ path: string; isLadder: boolean }[]> {
  const { home } = setup.machine.folders
  const path = expanded(setup, typed === '' ? '~/' : typed)
  const parent = resolve(/[\\/]$/.test(path) ? path : dirname(path))
  const begun = /[\\/]$/.test(path) ? '' : basename(path)
  const [root, above] = await Promise.all(
    [home, parent].map((one) => realpath(one).catch(() => null)),
  )
  if (!root || !above || (above !== root && !above.startsWith(root + sep))) return []
  const names = (await readdir(above, { withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isDirectory() && entry.name.startsWith(begun))
    .filter(({ name }) => begun.startsWith('.') || !name.startsWith('.'))
    .map(({ name }) => join(parent, name))
    .sort()
    .slice(0, mostCompletions)
  return Promise.all(
    names.map(async (name) => ({ path: name, isLadder: (await ladderFileIn(name)) !== null })),
  )
}

export async function saveFile(
  setup: Setup,
  {
    path,
    file,
    text,
    version,
  }: { path: string; file: string; text: string; version: string | null },
): Promise<SaveAnswer> {
  await requireOpened(setup, path)
  if (!(await pathExists(path)))
    throw inputError(message('folders.gone', { folder: path }), message('folders.bringBack'))
  const answer = await saveFolderFile(path, file, text, version)
  return answer.saved
    ? { state: 'saved', version: answer.version }
    : { state: 'changed', version: answer.now?.version ?? null, text: answer.now?.text ?? null }
}
