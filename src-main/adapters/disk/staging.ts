/**
 * Creates folders that appear atomically under their final names and never overwrite other folders.
 */
import { lstat, readdir, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, basename, dirname } from 'node:path'
import { diskError, errorCode, sync } from './disk'
import { inputError, type ErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { sweepAbandoned, ownFolder, type OwnedFolder } from './owned-folder'

/** A hidden folder to fill with files. `commit` atomically renames the folder to its final name. */
interface StagedFolder {
  /** Path to write to before `commit`. */
  readonly path: string
  /**
   * Syncs all files and renames the folder to its final name. Appends a number if the name already
   * exists. Returns the final path.
   */
  commit(): Promise<string>
  discard(): Promise<void>
}

/** Whether a path exists, even if it is a dangling link. */
const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/**
 * Throws an input error if a folder that the user named already exists. If a name that the program
 * chose is taken, a number is appended instead.
 */
export async function refuseTaken(path: string): Promise<void> {
  if (await isTaken(path))
    throw inputError(message('files.exists', { file: path }), message('files.otherFolder'))
}

/**
 * Returns an error if the contents were saved in a different folder from the one that the user
 * named. Otherwise returns null.
 */
export const takenMeanwhile = (wanted: string, folder: string): ErrorShape | null =>
  folder === wanted
    ? null
    : {
        kind: 'input',
        message: message('files.madeMeanwhile', { folder: wanted }),
        remedy: message('files.savedElsewhere', { folder }),
      }

/**
 * Error codes for renaming a folder onto a nonempty folder, onto a file, and onto any folder on
 * Windows.
 */
const takenCodes = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM', 'EACCES']

/**
 * Renames the folder to the next available name. If several processes want the same name, only one
 * of them gets it.
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
 * Creates a hidden sibling folder of `wanted`, so that the final rename stays within one file
 * system. Also removes folders that killed programs left next to `wanted` or in the temporary
 * folder.
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
