/** Reads and creates files and folders. Disk errors name the path and a remedy. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFile,
  readFileSync,
} from 'node:fs'
import { chmod, mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { randomBytes } from 'node:crypto'
import { errorText, inputError, KernelLadderError } from '../../domain/errors'
import type { templates } from '../../domain/messages/english/index'
import { message } from '../../domain/messages/message'

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

type Doing = keyof (typeof templates)['doing']
export type Elsewhere = keyof (typeof templates)['elsewhere']

/**
 * Converts a file system error to an error that names the path and a remedy. `elsewhere` tells the
 * user how to choose another location.
 */
export function diskError(
  error: unknown,
  path: string,
  doing: Doing,
  elsewhere: Elsewhere = 'out',
): KernelLadderError {
  if (error instanceof KernelLadderError) return error
  const what = { doing: message(`doing.${doing}`), file: path }
  const place = { elsewhere: message(`elsewhere.${elsewhere}`) }
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new KernelLadderError(
        'failed',
        message('files.full', what),
        message('files.freeSpace', place),
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOENT':
      return inputError(message('files.notAllowed', what), message('files.allow', place))
    case 'ENOTDIR':
    case 'EEXIST':
      return inputError(message('files.inTheWay', what), message('files.remove', place))
    default:
      return new KernelLadderError(
        'failed',
        message('files.refused', { ...what, text: errorText(error) }),
      )
  }
}

export const pathExists = (path: string): Promise<boolean> => Promise.resolve(existsSync(path))

/** Syncs a file or folder to disk. Ignores errors from systems that cannot sync folders. */
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
 * Creates a folder and its missing parents, one at a time. Node's recursive mkdir hangs on file
 * systems that return ENOENT when they refuse to create a folder, such as /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  if (await pathExists(path)) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
}

export const mebibyte = 2 ** 20
/**
 * Maximum file size. This program writes only files that are smaller than this limit. A file above
 * the limit comes from another program and could fill the memory.
 */
const mostMebibytes = 256

/**
 * Maximum size of files that are read synchronously. With ten thousand sessions, the thread pool
 * would take more time than the reads.
 */
const smallBytes = mebibyte

/**
 * Reads a file's bytes. Throws an error if the path is not a regular file, because reading a pipe
 * could block forever.
 */
export async function readPlainBytes(path: string, most = mostMebibytes): Promise<Buffer> {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile())
      throw inputError(message('files.notFile', { file: path }), message('files.replace'))
    if (found.size > most * mebibyte) {
      const why = message('files.tooLarge', { size: Math.ceil(found.size / mebibyte), most })
      throw inputError(message('files.unreadable', { file: path, why }))
    }
    return found.size <= smallBytes
      ? readFileSync(descriptor)
      : await promisify(readFile)(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export const readPlainFile = async (path: string, most?: number): Promise<string> =>
  (await readPlainBytes(path, most)).toString('utf8')

/**
 * Replaces a file by renaming a temporary file. Even if the process is killed or the disk is full,
 * readers see either the old or the new content. The file's folder must exist.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | Iterable<string>,
  options: { mode?: number; flush?: boolean } = {},
): Promise<void> {
  // The temporary file is hidden, so that folder listings skip it.
  const staged = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}`)
  try {
    await writeFile(staged, content, options)
    // Set the mode explicitly, because the process's umask would change it.
    if (options.mode !== undefined) await chmod(staged, options.mode)
    await rename(staged, path)
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined)
    throw error
  }
}
