/**
 * Restricts the files that an agent may access. Agents may access only folders that the user named,
 * and this program's sessions and recordings.
 */
import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { inputError } from '../../domain/errors'

export interface Fence {
  /** Real paths of the allowed folders, with links resolved. */
  readonly folders: readonly string[]
  /**
   * Returns the path with links resolved. Throws an error if the path does not exist or is outside
   * all allowed folders.
   */
  within(path: string): Promise<string>
}

const contains = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

const named = (folders: readonly string[]): string =>
  folders.length === 0
    ? 'No folder was given when the server was started.'
    : `The folders are: ${folders.join(', ')}.`

export async function fenceOf(given: readonly string[]): Promise<Fence> {
  const folders = await Promise.all(
    given.map((folder) =>
      realpath(folder).catch(() => {
        throw inputError(
          `There is no folder ${folder}.`,
          'Give existing folders: kernel-ladder mcp FOLDER.',
        )
      }),
    ),
  )
  const outside = (path: string): Error =>
    inputError(
      `${path} is outside the folders that this server may use.`,
      `${named(folders)} The user can start it with more folders: kernel-ladder mcp FOLDER.`,
    )
  return {
    folders,
    async within(path) {
      // Relative paths start at the first allowed folder, because an agent does not know the
      // server's working directory.
      const requested = resolve(folders[0] ?? process.cwd(), path)
      // Check the path before any file access, so that the error does not reveal which files exist
      // outside the allowed folders.
      if (!folders.some((folder) => contains(folder, requested))) throw outside(path)
      const real = await realpath(requested).catch(() => null)
      if (real === null) throw inputError(`${path} cannot be opened.`, named(folders))
      // Check the real path too, because a link may point outside the allowed folders.
      if (!folders.some((folder) => contains(folder, real))) throw outside(path)
      return real
    },
  }
}
