/** Reading and creating files and folders, and messages for disk errors. */
import { constants } from 'node:fs'
import { access, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KernelLadderError, inputError } from '../../domain/errors'

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

/** Converts a file system error to a sentence with the path and a remedy; `elsewhere` says how to choose another place. */
export function diskError(
  error: unknown,
  path: string,
  doing: string,
  elsewhere = 'choose another folder with --out',
): KernelLadderError {
  if (error instanceof KernelLadderError) return error
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new KernelLadderError(
        'failed',
        `Could not ${doing} ${path}: the disk is full.`,
        `Free some space, or ${elsewhere}.`,
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOENT':
      return inputError(
        `Could not ${doing} ${path}: this user is not permitted to write there.`,
        `Have the permissions changed, or ${elsewhere}.`,
      )
    case 'ENOTDIR':
    case 'EEXIST':
      return inputError(
        `Could not ${doing} ${path}: a file with that name exists.`,
        `Remove it, or ${elsewhere}.`,
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

/** Syncs a file or folder to disk; folders cannot be synced everywhere, so that may fail silently. */
export async function sync(path: string): Promise<void> {
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
 * Creates a folder and its missing parents, one at a time: Node's recursive mkdir does not return if a file system
 * answers ENOENT for a folder it refuses to create (/proc).
 */
export async function makeFolder(path: string): Promise<void> {
  if (await pathExists(path)) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
}

/** A file's bytes. Anything but a regular file, such as a pipe, is rejected, since reading it could block forever. */
export async function readPlainBytes(path: string): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!(await handle.stat()).isFile())
      throw inputError(`${path} is not a file.`, 'Replace it with a file, or remove it.')
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

export const readPlainFile = async (path: string): Promise<string> =>
  (await readPlainBytes(path)).toString('utf8')
