/** Folders that appear whole under their name or not at all, and never over what is there. */
import { lstat, readdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { inputError, type ErrorShape } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { diskError, errorCode, sync } from './disk'
import { ownFolder, type OwnedFolder } from './owned-folder'

/** A folder that is filled out of sight and then appears whole under its name. */
export interface StagedFolder {
  /** Where to write until `commit`. */
  readonly path: string
  /**
   * Syncs everything and gives the folder its name, or that name with a number behind it when someone
   * else has taken it meanwhile; returns where it lies.
   */
  commit(): Promise<string>
  discard(): Promise<void>
}

/** Also of a link that leads nowhere. */
const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** A folder that a person named must not be there yet; what this program names itself gets a number. */
export async function refuseTaken(path: string): Promise<void> {
  if (await isTaken(path))
    throw inputError(message('files.exists', { file: path }), message('files.otherFolder'))
}

/** Of a folder that a person named: that its content lies in another one, if it does. */
export const takenMeanwhile = (wanted: string, folder: string): ErrorShape | null =>
  folder === wanted
    ? null
    : {
        kind: 'input',
        message: message('files.madeMeanwhile', { folder: wanted }),
        remedy: message('files.savedElsewhere', { folder }),
      }

/** What a rename onto a folder that holds something, onto a file, and onto any folder on Windows answers. */
const takenCodes = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM', 'EACCES']

/** Of several that ask for one name at a time the rename lets one have it, and the others the next ones. */
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

/** Stages `wanted` in a hidden folder beside it, so that the last rename stays on one disk. */
export async function stageFolder(wanted: string): Promise<StagedFolder> {
  let folder: OwnedFolder
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
