/**
 * Parses compile_commands.json. Converts a file's compile command to a ladder's `build:` settings.
 */
import { z } from 'zod'
import {
  BuildSettings,
  languageStandards,
  macroOf,
  settingsFaults,
} from '../../domain/ladder/build-settings'

const CompileCommand = z.object({
  directory: z.string(),
  file: z.string(),
  command: z.string().optional(),
  arguments: z.array(z.string()).optional(),
})
export type CompileCommand = z.infer<typeof CompileCommand>

/** Parses compile_commands.json. Returns null if the file is invalid. */
export function parseCompileCommands(text: string): CompileCommand[] | null {
  try {
    return z.array(CompileCommand).parse(JSON.parse(text))
  } catch {
    return null
  }
}

/**
 * Splits a POSIX shell command into words, without substitutions. Supports quotes, and backslashes
 * that escape the next character.
 */
export function shellWords(command: string): string[] {
  const words: string[] = []
  const part = /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^\s'"\\]+)|(\s+)/gs
  let word: string | null = null
  for (const [, single, double, escaped, plain, space] of command.matchAll(part)) {
    if (space !== undefined) {
      if (word !== null) words.push(word)
      word = null
    } else {
      word ??= ''
      word += single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? ''
    }
  }
  return word === null ? words : [...words, word]
}

const wordsOf = ({ command = '', arguments: words }: CompileCommand): string[] =>
  words ?? shellWords(command)

/** Options whose value is in the same word or in the next word. */
const valued = [
  { option: /^(?:-I|-isystem|--include-path|--system-include)=?/, key: 'include' },
  { option: /^(?:-D|--define-macro)=?/, key: 'defines' },
  { option: /^--?std=?/, key: 'std' },
] as const

/** Options to omit, because they do not affect the kernels or because this program sets them. */
const left = /^-(O\d|g|G|w|lineinfo|L.*|-debug|-device-debug)$/

/**
 * Returns the build settings in a command. Keeps include directories as written. Omits options that
 * `build:` does not support.
 */
export function settingsOf(command: CompileCommand): BuildSettings {
  const words = wordsOf(command).slice(1)
  const include: string[] = []
  const defines: Record<string, string> = {}
  const flags: string[] = []
  let std: BuildSettings['std']
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    const found = valued.find(({ option }) => option.test(word))
    if (!found) {
      const two = words.slice(at, at + 2)
      const taken = [[word], two].find((flag) => settingsFaults({ flags: flag }).length === 0)
      if (!taken || left.test(word)) continue
      flags.push(...taken)
      at += taken.length - 1
      continue
    }
    const value = word.replace(found.option, '') || words[++at] || ''
    if (found.key === 'include') include.push(value)
    else if (found.key === 'std')
      std = languageStandards.find((known) => known === value.replace('gnu++', 'c++'))
    else {
      const [name, text] = macroOf(value)
      if (BuildSettings.safeParse({ defines: { [name]: text } }).success) defines[name] = text
    }
  }
  return {
    ...(std ? { std } : {}),
    ...(flags.length > 0 ? { flags: [...new Set(flags)] } : {}),
    ...(Object.keys(defines).length > 0 ? { defines } : {}),
    ...(include.length > 0 ? { include: [...new Set(include)] } : {}),
  }
}
