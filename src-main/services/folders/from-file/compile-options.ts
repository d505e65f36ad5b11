/** How a user's .cu file is compiled: as the request says, and as the nearest compile_commands.json does. */
import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import { inputError } from '../../../domain/errors'
import { BuildSettings, mergedSettings } from '../../../domain/ladder/build-settings'
import {
  macroOf,
  parseCompileCommands,
  settingsOf,
  type CompileCommand,
} from '../../../parsers/cuda/compile-commands'

export interface CompileOptions {
  /** Include directories are absolute. */
  settings: BuildSettings
  /** The compile_commands.json that some are from; null if none names the file. */
  from: string | null
}

/** Folders beside a source in which build systems leave compile_commands.json. */
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

/** The command that compiles a file, from its folder or the nearest one above. */
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

function definesOf(words: readonly string[]): Record<string, string> {
  const defines = Object.fromEntries(words.map(macroOf))
  const fault = BuildSettings.safeParse({ defines }).error?.issues[0]
  if (fault)
    throw inputError(
      `--define ${String(fault.path.at(-1))} does not begin with the name of a macro.`,
      'Write --define NAME or --define NAME=VALUE.',
    )
  return defines
}

/** What the request says comes first. `file` is absolute. */
export async function compileOptions(
  file: string,
  { include, define }: { include: readonly string[]; define: readonly string[] },
): Promise<CompileOptions> {
  const defines = definesOf(define)
  for (const directory of include)
    if (!(await stat(directory).catch(() => null))?.isDirectory())
      throw inputError(`--include ${directory} is not a folder.`)
  const own: BuildSettings = {
    ...(include.length > 0 ? { include: include.map((path) => resolve(path)) } : {}),
    ...(define.length > 0 ? { defines } : {}),
  }
  const found = await nearestCommand(file)
  if (!found) return { settings: own, from: null }
  const { directory } = found.command
  const { include: searched, ...others } = settingsOf(found.command)
  const theirs: BuildSettings = {
    ...others,
    ...(searched ? { include: searched.map((path) => resolve(directory, path)) } : {}),
  }
  const merged = mergedSettings(own, { ...theirs, defines: { ...theirs.defines, ...defines } })
  return { settings: merged ?? {}, from: shownPath(found.path) }
}
