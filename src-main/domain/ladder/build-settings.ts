/** The `build:` settings of a ladder or rung: nvcc options in addition to the default flags. */
import { z } from 'zod'
import { message, type Statement } from '../messages/message'

const Macro = z.string().regex(/^[A-Za-z_]\w*$/, {
  message: 'The name of a macro consists of letters, digits and "_".',
})
const Library = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_+.-]*$/, {
  message: 'Name a library as after -l: "cufft" for libcufft.so.',
})

export const languageStandards = ['c++14', 'c++17', 'c++20', 'c++23'] as const

export const BuildSettings = z
  .strictObject({
    flags: z.array(z.string()).describe('Flags of nvcc, one word each.'),
    include: z
      .array(z.string().min(1))
      .describe('Include directories: in the folder, absolute, or below a $VARIABLE.'),
    defines: z
      .record(Macro, z.union([z.string(), z.number()]))
      .describe('Macros with their values.'),
    libraries: z.array(Library).describe('Libraries to link, such as cufft.'),
    std: z.enum(languageStandards).describe('The C++ standard; c++17 by default.'),
    rdc: z.boolean().describe('Whether device code is relocatable and linked separately.'),
    max_registers: z.number().int().min(16).max(255).describe('Registers per thread at most.'),
  })
  .partial()
export type BuildSettings = z.infer<typeof BuildSettings>

/**
 * Allowed nvcc flags. Each word in the settings must match one of these patterns. A flag with a
 * separate value consists of two words.
 */
const allowed: readonly { pattern: RegExp; valued?: RegExp }[] = [
  { pattern: /^--?use_fast_math$/ },
  { pattern: /^--?(ftz|prec-div|prec-sqrt|fmad)=(true|false)$/ },
  { pattern: /^--?(expt-relaxed-constexpr|extended-lambda|expt-extended-lambda)$/ },
  { pattern: /^--?(restrict|extra-device-vectorization|device-int128|device-float128)$/ },
  { pattern: /^--?default-stream=(legacy|per-thread|null)$/ },
  { pattern: /^-O[0-3]$/ },
  { pattern: /^(-G|--device-debug|-g|--debug|-dlto|-lineinfo|-w|-Wno-deprecated-gpu-targets)$/ },
  // Spaces in the path are forbidden, because nvcc splits the path at spaces when it links.
  { pattern: /^-L[^-\s]\S*$/ },
  { pattern: /^-(diag-suppress|diag-warn|diag-error)=\d+(,\d+)*$/ },
  { pattern: /^-(diag-suppress|diag-warn|diag-error)$/, valued: /^\d+(,\d+)*$/ },
  { pattern: /^--?(Werror|Wreorder|Wdefault-stream-launch)(=[\w,-]+)?$/ },
  // Options for ptxas and the host compiler must neither set an output file nor read files.
  {
    pattern: /^(-Xptxas|--ptxas-options)$/,
    valued: /^--?(?!-|o\b|output|input)[\w-]+(=[\w-]+)?$/,
  },
  { pattern: /^(-Xptxas|--ptxas-options)=--?(?!-|o\b|output|input)[\w-]+(=[\w-]+)?$/ },
  { pattern: /^(-Xcompiler|--compiler-options)$/, valued: /^-([fmOWD]|pthread)[\w.=+-]*$/ },
  { pattern: /^(-Xcompiler|--compiler-options)=-([fmOWD]|pthread)[\w.=+-]*$/ },
  { pattern: /^(-Xcudafe|-Xnvlink|-Xfatbin)$/, valued: /^--?[\w-]+(=[\w-]+)?$/ },
]

/** Flags that must be set with another key of `build` instead. */
const otherKeys: readonly { pattern: RegExp; key: string }[] = [
  { pattern: /^-I|^--include-path/, key: 'include' },
  { pattern: /^-D|^--define-macro/, key: 'defines' },
  { pattern: /^-l|^--library/, key: 'libraries' },
  { pattern: /^--?std/, key: 'std' },
  { pattern: /^-(rdc|dc)|^--(relocatable-)?device-c/, key: 'rdc' },
  { pattern: /^--?maxrregcount/, key: 'max_registers' },
]

/** An error in the build settings, with its location. */
export interface SettingsFault {
  path: readonly (string | number)[]
  message: Exclude<Statement, string>
}

export function settingsFaults({ flags = [], include = [] }: BuildSettings): SettingsFault[] {
  const faults: SettingsFault[] = []
  for (let at = 0; at < flags.length; at += 1) {
    const flag = flags[at]!
    const rule = allowed.find(({ pattern }) => pattern.test(flag))
    const value = flags[at + 1]
    const path = ['flags', at]
    if (!rule) faults.push({ path, message: refusal(flag) })
    else if (rule.valued) {
      if (value === undefined || !rule.valued.test(value))
        faults.push({ path, message: message('settings.value', { flag, value: value ?? '' }) })
      at += 1
    }
  }
  for (const [at, directory] of include.entries())
    if (leadsOut(directory))
      faults.push({ path: ['include', at], message: message('settings.leadsOut', { directory }) })
  return faults
}

function refusal(flag: string): Exclude<Statement, string> {
  const key = otherKeys.find(({ pattern }) => pattern.test(flag))?.key
  if (key !== undefined) return message('settings.otherKey', { flag, key })
  const words = flag.trim().split(/\s+/)
  if (words.length > 1 || flag !== flag.trim())
    return message('settings.oneWord', { flag, words: words.map((word) => `"${word}"`).join(', ') })
  if (!flag.startsWith('-')) return message('settings.noFlag', { flag: JSON.stringify(flag) })
  return message('settings.refused', { flag })
}

/**
 * Returns whether an include directory is relative to the ladder's folder. Absolute paths and paths
 * with variables may point anywhere.
 */
export const isInFolder = (directory: string): boolean => !/^[/$]/.test(directory)
const leadsOut = (directory: string): boolean =>
  isInFolder(directory) && directory.split('/').includes('..')

/**
 * Merges a ladder's settings and a rung's settings. Lists are concatenated. If the ladder and the
 * rung set the same single value, the rung's value is used.
 */
export function mergedSettings(
  ladder: BuildSettings | undefined,
  rung: BuildSettings | undefined,
): BuildSettings | undefined {
  if (!ladder || !rung) return ladder ?? rung
  const joined = <T>(a: readonly T[] | undefined, b: readonly T[] | undefined) =>
    a || b ? [...(a ?? []), ...(b ?? [])] : undefined
  const lists = {
    flags: joined(ladder.flags, rung.flags),
    include: joined(ladder.include, rung.include),
    libraries: joined(ladder.libraries, rung.libraries),
    defines: ladder.defines || rung.defines ? { ...ladder.defines, ...rung.defines } : undefined,
  }
  const given = Object.fromEntries(
    Object.entries(lists).filter(([, value]) => value !== undefined),
  ) as BuildSettings
  return { ...ladder, ...rung, ...given }
}

/** Splits a macro into its name and value. The default value is 1. */
export function macroOf(word: string): [name: string, value: string] {
  const at = word.indexOf('=')
  return at < 0 ? [word, '1'] : [word.slice(0, at), word.slice(at + 1)]
}

/** Returns nvcc's arguments without expanding variables. `-l` arguments come last. */
export const settingsWords = (settings: BuildSettings | undefined): string[] => [
  ...compileWords(settings),
  ...linkWords(settings),
]

export const compileWords = ({
  flags = [],
  include = [],
  defines = {},
  std,
  rdc,
  max_registers: registers,
}: BuildSettings = {}): string[] => [
  ...(std === undefined ? [] : [`-std=${std}`]),
  ...flags,
  ...(rdc === undefined ? [] : [`-rdc=${rdc}`]),
  ...(registers === undefined ? [] : [`-maxrregcount=${registers}`]),
  ...Object.entries(defines).map(([name, value]) => `-D${name}=${value}`),
  ...include.map((directory) => `-I${directory}`),
]

export const linkWords = ({ libraries = [] }: BuildSettings = {}): string[] =>
  libraries.map((library) => `-l${library}`)

const variable = /\$(?:\{(\w+)\}|(\w+))/g

/** Returns the distinct names of environment variables used in `include` and `flags`. */
export const variablesIn = ({ flags = [], include = [] }: BuildSettings): string[] => [
  ...new Set(
    [...flags, ...include].flatMap((word) =>
      [...word.matchAll(variable)].map(([, braced, plain]) => (braced ?? plain)!),
    ),
  ),
]

/** Returns the settings with environment variables expanded. */
export function withVariables(
  settings: BuildSettings,
  valueOf: (name: string) => string,
): BuildSettings {
  const filled = (words: readonly string[] | undefined) =>
    words?.map((word) =>
      word.replaceAll(variable, (_, braced?: string, plain?: string) =>
        valueOf((braced ?? plain)!),
      ),
    )
  const [flags, include] = [filled(settings.flags), filled(settings.include)]
  return { ...settings, ...(flags ? { flags } : {}), ...(include ? { include } : {}) }
}
