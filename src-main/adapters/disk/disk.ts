/** Writing that leaves the old state or the new, and sentences for what the disk refuses. */
import { randomBytes } from 'node:crypto'
import { access, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { KernelLadderError, inputError } from '../../domain/errors'

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

/** A file system error as a sentence that names the path and what to do. */
export function diskError(error: unknown, path: string, doing: string): KernelLadderError {
  if (error instanceof KernelLadderError) return error
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new KernelLadderError(
        'failed',
        `Could not ${doing} ${path}: the disk is full.`,
        'Free some space, or choose another folder with --out.',
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOENT':
      return inputError(
        `Could not ${doing} ${path}: this user may not write there.`,
        'Choose a folder you may write to with --out.',
      )
    case 'ENOTDIR':
    case 'EEXIST':
      return inputError(
        `Could not ${doing} ${path}: a file is in the way.`,
        'Choose another path with --out.',
      )
    default:
      return new KernelLadderError(
        'failed',
        `Could not ${doing} ${path}: ${error instanceof Error ? error.message : String(error)}`,
      )
  }
}

export const pathExists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Forces a file or folder to the disk; folders cannot be synced everywhere, so that may fail quietly. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if (!['EINVAL', 'EPERM', 'EISDIR', 'ENOTSUP'].includes(errorCode(error) ?? '')) throw error
  } finally {
    await handle.close()
  }
}

/**
 * Makes a folder and those above it that are missing, one at a time: Node's own recursive mkdir does
 * not return where a file system answers ENOENT for a folder it will not make (/proc).
 */
export async function makeFolder(path: string): Promise<void> {
  if (await pathExists(path)) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
}

/** A folder that is filled out of sight and then appears whole under its name. */
export interface StagedFolder {
  /** Where to write until `commit`. */
  readonly path: string
  /** Syncs everything and gives the folder its name; fails when that name is taken by then. */
  commit(): Promise<string>
  discard(): Promise<void>
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** Removes what staging left in `folder` when its process was killed. */
export async function sweepStaged(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = /^\..+\.partial-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** Stages `finalPath` in a hidden folder beside it, so that the last rename stays on one disk. */
export async function stageFolder(finalPath: string): Promise<StagedFolder> {
  if (await pathExists(finalPath))
    throw inputError(
      `${finalPath} exists already.`,
      'Choose a folder that does not exist yet with --out; nothing is overwritten.',
    )
  const path = join(
    dirname(finalPath),
    `.${basename(finalPath)}.partial-${process.pid}-${randomBytes(4).toString('hex')}`,
  )
  try {
    await makeFolder(path)
  } catch (error) {
    throw diskError(error, finalPath, 'create')
  }
  return {
    path,
    async commit() {
      try {
        for (const entry of await readdir(path, { recursive: true, withFileTypes: true }))
          if (entry.isFile()) await sync(join(entry.parentPath, entry.name))
        if (await pathExists(finalPath))
          throw inputError(
            `${finalPath} was made by someone else meanwhile.`,
            `The session is kept in ${path}.`,
          )
        await rename(path, finalPath)
        await sync(dirname(finalPath))
        return finalPath
      } catch (error) {
        throw diskError(error, finalPath, 'save')
      }
    },
    discard: () => rm(path, { recursive: true, force: true }),
  }
}

/** The folder of that name, or with a number behind it where the name is taken. */
export async function freeFolder(store: string, id: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const folder = join(store, n === 1 ? id : `${id}-${n}`)
    if (!(await pathExists(folder))) return folder
  }
}
