/** Files and folders as this program reads and makes them, and sentences for what the disk refuses. */
import { constants } from 'node:fs'
import { access, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorText, inputError, KernelLadderError } from '../../domain/errors'
import type { templates } from '../../domain/messages/english'
import { message } from '../../domain/messages/message'

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

type Doing = keyof (typeof templates)['doing']
type Elsewhere = keyof (typeof templates)['elsewhere']

/** A file system error as a sentence that names the path and what to do; `elsewhere` is how to have it in another place. */
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

export const pathExists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Forces a file or folder to the disk; folders cannot be synced everywhere, so that may fail quietly. */
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

/** A file's bytes. What is no file, a pipe say, is refused: to read it would wait for a writer without end. */
export async function readPlainBytes(path: string): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!(await handle.stat()).isFile())
      throw inputError(message('files.notFile', { file: path }), message('files.replace'))
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

export const readPlainFile = async (path: string): Promise<string> =>
  (await readPlainBytes(path)).toString('utf8')
