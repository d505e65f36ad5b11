/**
 * Collects the compile options for a user's .cu file from the request and the nearest
 * compile_commands.json.
 */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import { nearestSettings } from '../../../adapters/tools/compile-commands'
import { inputError } from '../../../domain/errors'
import { BuildSettings, macroOf, mergedSettings } from '../../../domain/ladder/build-settings'

export interface CompileOptions {
  /** Build settings with absolute include directories. */
  settings: BuildSettings
  /**
   * Path of the compile_commands.json that provided settings, or null if none lists the source.
   */
  from: string | null
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

/**
 * Returns the compile options for a source file. Options from the request come before options from
 * compile_commands.json. `file` is absolute.
 */
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
  const found = await nearestSettings(file)
  if (!found) return { settings: own, from: null }
  const { settings: theirs } = found
  const merged = mergedSettings(own, { ...theirs, defines: { ...theirs.defines, ...defines } })
  return { settings: merged ?? {}, from: shownPath(found.path) }
}
