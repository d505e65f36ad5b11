/**
 * Checks the locations of a submission's headers. A header must be in the submission's folder or in
 * a folder that the compiler searches. The sandbox contains other readable files, such as another
 * installation of this program, but submissions must not include them.
 */
import { resolve } from 'node:path'
import { runProcess } from '../tools/process'

/**
 * Returns the folders that nvcc and its host compiler search, parsed from the output of gcc or
 * clang. Returns an empty list if the output contains no folders.
 */
export async function searchedFolders(nvcc: string, cwd: string): Promise<string[]> {
  const args = ['-E', '-Xcompiler', '-v', '-x', 'cu', '/dev/null']
  const { stderr } = await runProcess({ file: nvcc, args, cwd, timeoutMs: 30_000 })
  const list = /<\.\.\.> search starts here:\n([^]*?)End of search list/.exec(stderr)?.[1] ?? ''
  return list.split('\n').flatMap((line) => (line.trim() === '' ? [] : [resolve(line.trim())]))
}

/**
 * Returns the included files in a make rule printed by the compiler. Relative paths are resolved
 * against `folder`.
 */
export const includedFiles = (rule: string, folder: string): string[] =>
  [...rule.slice(rule.indexOf(':') + 1).matchAll(/(?:\\[^\n]|[^\s\\])+/g)].map(([path]) =>
    resolve(folder, path.replaceAll(/\\(.)/g, '$1').replaceAll('$$', '$')),
  )

/** Returns the included files that are in none of the folders. */
export const foreignFiles = (files: readonly string[], folders: readonly string[]): string[] =>
  files.filter((file) => !folders.some((folder) => file.startsWith(`${folder}/`)))
