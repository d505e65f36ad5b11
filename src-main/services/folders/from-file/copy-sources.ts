/** Copies a file and its headers into a ladder folder, so that the include paths remain valid. */
import { copyFile, mkdir, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { headerName, shownPath } from '../../../adapters/catalog/ladder-folder'
import { inputError } from '../../../domain/errors'

/** Subfolder for copies of a file and the headers that it includes by relative paths. */
export const originalFolder = 'original'

const mostHeaders = 150
const mostBytes = 2 ** 20

interface Copy {
  from: string
  /** Path relative to the ladder folder. */
  to: string
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder + sep)

/** Returns the deepest folder that contains all paths. */
function commonFolder(paths: readonly string[]): string {
  let folder = dirname(paths[0]!)
  while (!paths.every((path) => isBelow(path, folder)) && folder !== dirname(folder))
    folder = dirname(folder)
  return folder
}

/**
 * Returns the file name for a file's copy. A .cu file must become a header, because each .cu file
 * in a ladder folder is a rung.
 */
const asHeader = (path: string): string =>
  headerName.test(path) ? path : `${path.replace(/\.\w+$/, '')}.cuh`

/** @returns every source with its destination in the folder, starting with the file itself */
export function placesOf(sources: readonly string[], folders: readonly string[]): Copy[] {
  const through = (path: string): string | null => {
    const found = folders.find((folder) => isBelow(path, folder))
    return found === undefined ? null : relative(found, path)
  }
  const own = sources.filter((path, index) => index === 0 || through(path) === null)
  const root = commonFolder(own)
  const copies = sources.map((from, index) => {
    const found = index === 0 ? null : through(from)
    return { from, to: found ?? join(originalFolder, relative(root, from)) }
  })
  const [file, ...headers] = copies as [Copy, ...Copy[]]
  // A .cu file may include a .cuh header with the same base name.
  const taken = headers.some(({ to }) => to === asHeader(file.to))
  return [{ ...file, to: taken ? `${file.to}.cuh` : asHeader(file.to) }, ...headers]
}

/** Returns large libraries' include directories, whose headers are referenced instead of copied. */
export function largeFolders(sources: readonly string[], includes: readonly string[]): string[] {
  if (sources.length <= mostHeaders) return []
  const headers = sources.slice(1)
  const below = (folder: string) => headers.filter((path) => isBelow(path, folder)).length
  return includes.filter((folder) => below(folder) > mostHeaders / 2)
}

/** @param includes absolute paths. Headers below the paths in `kept` are not copied. */
export async function copySources(
  sources: readonly string[],
  includes: readonly string[],
  kept: readonly string[],
  folder: string,
): Promise<Copy[]> {
  const copies = placesOf(
    sources.filter((path, index) => index === 0 || !kept.some((one) => isBelow(path, one))),
    includes,
  )
  if (copies.length > mostHeaders)
    throw inputError(
      `${shownPath(sources[0]!)} includes ${copies.length - 1} headers that are not installed with CUDA; at most ${mostHeaders} are copied into a ladder folder.`,
      'Give the folder of a large library with --include DIR; its headers are then used in place.',
    )
  for (const { from, to } of copies) {
    const { size } = await stat(from)
    if (size > mostBytes)
      throw inputError(
        `${shownPath(from)} has ${size} bytes; the limit for a file of a ladder is 1 MiB.`,
      )
    if (!headerName.test(to))
      throw inputError(
        `${shownPath(sources[0]!)} includes ${shownPath(from)}, which does not have the name of a header.`,
        'A ladder folder can contain only files that end in .h, .hh, .hpp, .hxx, .cuh, .inl, .inc, .ipp, .tpp or .c.',
      )
    await mkdir(dirname(join(folder, to)), { recursive: true })
    await copyFile(from, join(folder, to))
  }
  return copies
}
