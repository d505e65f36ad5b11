/**
 * Checks where a submission's headers come from: its own folder, and the folders that its compiler searches. Other
 * files in the sandbox, such as another installation of this program, can be read but not included.
 */
import { resolve } from 'node:path'
import { runProcess } from '../tools/process'

/**
 * Returns the folders that nvcc and its host compiler search, as gcc and clang print them. Empty if they print none.
 */
export async function searchedFolders(nvcc: string, cwd: string): Promise<string[]> {
  const args = ['-E', '-Xcompiler', '-v', '-x', 'cu', '/dev/null']
  const { stderr } = await runProcess({ file: nvcc, args, cwd, timeoutMs: 30_000 })
  const list = /<\.\.\.> search starts here:\n([^]*?)End of search list/.exec(stderr)?.[1] ?? ''
  return list.split('\n').flatMap((line) => (line.trim() === '' ? [] : [resolve(line.trim())]))
}

/** Returns the included files that a compiler lists as a make rule. Relative paths are resolved against `folder`. */
export const includedFiles = (rule: string, folder: string): string[] =>
  [...rule.slice(rule.indexOf(':') + 1).matchAll(/(?:\\[^\n]|[^\s\\])+/g)].map(([path]) =>
    resolve(folder, path.replaceAll(/\\(.)/g, '$1').replaceAll('$$', '$')),
  )

/** Returns the included files that are in none of the folders. */
export const foreignFiles = (files: readonly string[], folders: readonly string[]): string[] =>
  files.filter((file) => !folders.some((folder) => file.startsWith(`${folder}/`)))
