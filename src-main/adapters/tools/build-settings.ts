/**
 * Resolves a ladder's `build:` settings for nvcc on this machine. Replaces variables, finds
 * directories, and computes a digest of headers outside the folder.
 */
import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { posix } from 'node:path'
import {
  compileWords,
  linkWords,
  variablesIn,
  withVariables,
  type BuildSettings,
} from '../../domain/ladder/build-settings'
import { missingError } from '../../domain/errors'
import { inLines, message, type Statement } from '../../domain/messages/message'

export interface ReadySettings {
  /** Arguments for nvcc, placed after the flags that all rungs share. */
  words: readonly string[]
  /** Arguments for nvcc, placed after the sources. */
  libraries: readonly string[]
  /**
   * Digest of the headers outside the folder, or null if there are none. A changed header changes
   * the digest, so that older builds are not reused.
   */
  headersDigest: string | null
}

/**
 * Throws a `missing` error if the settings name variables or directories that this machine lacks.
 * The error lists all missing variables and directories.
 */
export async function requireSettings(
  all: readonly BuildSettings[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const unset = [...new Set(all.flatMap(variablesIn))].filter((name) => !env[name])
  if (unset.length > 0) {
    const variables = { count: unset.length, variables: unset.join(', ') }
    throw missingError(message('settings.unset', variables), message('settings.setIt', variables))
  }
  const directories = all.flatMap(
    (settings) => withVariables(settings, (name) => env[name]!).include ?? [],
  )
  const absent: Statement[] = []
  for (const directory of new Set(directories.filter(isAbsolute)))
    if (!(await isDirectory(directory))) absent.push(message('settings.noDirectory', { directory }))
  if (absent.length > 0) throw missingError(inLines(absent))
}

/**
 * Returns the resolved settings.
 * @param where `folder` is the rung's folder among the sources, with `/` as the separator. Relative
 * include directories are resolved against this folder. `nvcc` is nvcc's path.
 * @throws `missing` if the settings name a variable or directory that this machine lacks
 */
export async function readySettings(
  settings: BuildSettings,
  { folder, nvcc }: { folder: string; nvcc: string },
  env: NodeJS.ProcessEnv = process.env,
): Promise<ReadySettings> {
  await requireSettings([settings], env)
  const filled = withVariables(settings, (name) => env[name]!)
  const outside = (filled.include ?? []).filter(isAbsolute)
  const include = filled.include?.map((directory) =>
    isAbsolute(directory) ? directory : posix.join(folder, directory),
  )
  return {
    words: compileWords({ ...filled, ...(include ? { include } : {}) }),
    libraries: [...stubPaths(filled, nvcc), ...runPaths(filled), ...linkWords(filled)],
    headersDigest: outside.length === 0 ? null : await digestOf(outside),
  }
}

/**
 * Returns the linker options for the toolkit's driver library stub. Linkers do not find the stub by
 * default.
 */
const stubPaths = ({ libraries = [] }: BuildSettings, nvcc: string): string[] =>
  libraries.includes('cuda')
    ? ['lib64/stubs', 'targets/x86_64-linux/lib/stubs', 'targets/sbsa-linux/lib/stubs'].map(
        (path) => `-L${join(dirname(nvcc), '..', path)}`,
      )
    : []

/**
 * Returns run path (rpath) options for the linker. They let the loader find the libraries that `-L`
 * finds at link time.
 */
const runPaths = ({ flags = [] }: BuildSettings): string[] =>
  flags
    .filter((flag) => flag.startsWith('-L'))
    .flatMap((flag) => ['-Xlinker', `-rpath=${flag.slice('-L'.length)}`])

const isDirectory = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() ?? false

const headerName = /^[^.]+$|\.(h|hh|hpp|hxx|cuh|inl|inc|ipp|tpp)$/

/**
 * Returns a digest of file names, sizes, and modification times. Reading the headers of a large
 * library before every build would take too long.
 */
async function digestOf(directories: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const directory of directories) {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    const paths = entries
      .filter((entry) => entry.isFile() && headerName.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
    for (const path of paths) {
      const { size, mtimeMs } = await stat(path)
      hash.update(`${path}\0${size}\0${mtimeMs}\n`)
    }
  }
  return hash.digest('hex')
}

/**
 * Returns the common flags, except those that `words` overrides. nvcc accepts each of these flags
 * only once.
 */
export const baseFlags = (flags: readonly string[], words: readonly string[]): string[] =>
  flags.filter(
    (flag) =>
      !(flag.startsWith('-std=') && words.some((word) => word.startsWith('-std='))) &&
      !(/^-O\d$/.test(flag) && words.some((word) => /^-O\d$/.test(word))),
  )
