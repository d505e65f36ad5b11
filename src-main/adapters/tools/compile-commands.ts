/** Finds a build system's compile command for a file in the nearest compile_commands.json. */
import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { BuildSettings } from '../../domain/ladder/build-settings'
import {
  parseCompileCommands,
  settingsOf,
  type CompileCommand,
} from '../../parsers/cuda/compile-commands'

/** Folders near a source file to which build systems write compile_commands.json. */
const buildFolders = ['.', 'build', 'out']
const mostBytes = 2 ** 26

async function commandIn(path: string, file: string): Promise<CompileCommand | null> {
  const found = await stat(path).catch(() => null)
  if (!found?.isFile() || found.size > mostBytes) return null
  for (const command of parseCompileCommands(await readFile(path, 'utf8')) ?? []) {
    const named = resolve(command.directory, command.file)
    if ((await realpath(named).catch(() => named)) === file) return command
  }
  return null
}

/**
 * Returns the compile command for a file. Searches the file's folder first, and then its parent
 * folders.
 */
async function nearestCommand(
  file: string,
): Promise<{ path: string; command: CompileCommand } | null> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    for (const below of buildFolders) {
      const path = join(folder, below, 'compile_commands.json')
      const command = await commandIn(path, file)
      if (command) return { path, command }
    }
    if (folder === dirname(folder)) return null
  }
}

/**
 * Returns the settings in the nearest compile command and the path of the file that contains it.
 * Include directories are absolute. Returns null if there is no command.
 */
export async function nearestSettings(
  file: string,
): Promise<{ settings: BuildSettings; path: string } | null> {
  const found = await nearestCommand(file)
  if (!found) return null
  const { include, ...others } = settingsOf(found.command)
  const absolute = include?.map((path) => resolve(found.command.directory, path))
  return { settings: { ...others, ...(absolute ? { include: absolute } : {}) }, path: found.path }
}
