/** Folders that are created atomically under their name and never overwrite anything. */
import { lstat, readdir, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, basename, dirname } from 'node:path'
import { diskError, errorCode, sync } from './disk'
import { inputError, type ErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { sweepAbandoned, ownFolder, type OwnedFolder } from './owned-folder'

/** A folder that is filled while hidden and then appears atomically under its name. */
interface StagedFolder {
  /** The path to write to until `commit`. */
  readonly path: string
  /**
   * Syncs everything and renames the folder to its name. Adds a number if the name has been taken in the meantime.
   * Returns the final path.
   */
  commit(): Promise<string>
  discard(): Promise<void>
}

/** Whether a path is taken, even by a dangling link. */
const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** Throws if a folder named by the user exists. Names chosen by this program get a number instead. */
export async function refuseTaken(path: string): Promise<void> {
  if (await isTaken(path))
    throw inputError(message('files.exists', { file: path }), message('files.otherFolder'))
}

/** Returns an error if the contents of a folder named by the user ended up in another folder. */
export const takenMeanwhile = (wanted: string, folder: string): ErrorShape | null =>
  folder === wanted
    ? null
    : {
        kind: 'input',
        message: message('files.madeMeanwhile', { folder: wanted }),
        remedy: message('files.savedElsewhere', { folder }),
      }

/** Error codes of a rename onto a nonempty folder, onto a file, and onto any folder on Windows. */
const takenCodes = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM', 'EACCES']

/**
 * Renames the folder to the next free name. If several processes request one name, the rename gives it to only one of
 * them.
 */
async function nameFreely(path: string, wanted: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? wanted : `${wanted}-${n}`
    if (await isTaken(name)) continue
    try {
      await rename(path, name)
      return name
    } catch (error) {
      if (!takenCodes.includes(errorCode(error) ?? '') || !(await isTaken(name))) throw error
    }
  }
}

/**
 * Stages `wanted` in a hidden sibling folder, so that the final rename stays on one file system. Also sweeps
 * leftovers of killed programs there and in the temporary folder.
 */
export async function stageFolder(wanted: string): Promise<StagedFolder> {
  let folder: OwnedFolder
  await sweepAbandoned(tmpdir())
  try {
    folder = await ownFolder(dirname(wanted), basename(wanted))
  } catch (error) {
    throw diskError(error, wanted, 'create')
  }
  const { path } = folder
  return {
    path,
    async commit() {
      try {
        for (const entry of await readdir(path, { recursive: true, withFileTypes: true }))
          if (entry.isFile()) await sync(join(entry.parentPath, entry.name))
        await folder.disown()
        const name = await nameFreely(path, wanted)
        await sync(dirname(name))
        return name
      } catch (error) {
        throw diskError(error, wanted, 'save')
      }
    },
    discard: () => folder.remove(),
  }
}
