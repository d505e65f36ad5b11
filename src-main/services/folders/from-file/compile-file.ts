/**
 * Compiles a user's .cu file unchanged. The result contains the host code as a library, the machine
 * code, and the included headers.
 */
import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { notCompiling, undefinedFunction, type Compiler } from '../../bench/compiler'
import { remedies } from '../../bench/tools'
import { readModules } from '../../../adapters/tools/built-code'
import { readBuildOutput, type PtxasKernel } from '../../../adapters/tools/nvcc'
import { compileWords, type BuildSettings } from '../../../domain/ladder/build-settings'
import type { Diagnostic } from '../../../domain/session/session'
import { asOption, findHeader } from './find-header'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import { inputError, KernelLadderError, missingError } from '../../../domain/errors'
import { message } from '../../../domain/messages/message'
import type { MachineCode } from '../../../domain/sass/machine-code'

export interface CompiledFile {
  /** The file's absolute path. */
  file: string
  library: string
  /** Target architecture without the prefix `sm_`, such as `90a`. */
  sm: string
  modules: MachineCode[]
  resources: PtxasKernel[]
  /**
   * Toolkit libraries whose headers the file includes. The names have the form that `-l` expects.
   */
  libraries: string[]
  /**
   * Absolute paths of the file and the files that it includes, without compiler and system headers.
   * The file itself comes first.
   */
  sources: string[]
}

const timeoutMs = 5 * 60_000

/** Returns the prerequisites in a Makefile rule. */
const prerequisites = (rule: string): string[] =>
  rule
    .replace(/\\\n/g, ' ')
    .replace(/^[^:]*:/, '')
    .split(/(?<!\\)\s+/)
    .map((path) => path.replaceAll('\\ ', ' '))
    .filter((path) => path !== '')

/**
 * Whether a header belongs to a compiler or the system. Such headers exist on every machine that
 * can build the ladder.
 */
const isInstalled = (path: string, nvcc: string): boolean =>
  path.startsWith(`${dirname(dirname(nvcc))}/`) ||
  /^\/(?:usr\/(?:lib|include|local\/cuda|local\/include)|opt\/cuda|nix\/store)/.test(path)

/** Returns the toolkit libraries that match an included header, such as `cufft` for `cufft.h`. */
async function toolkitLibraries(headers: readonly string[], nvcc: string): Promise<string[]> {
  const toolkit = dirname(dirname(await realpath(nvcc)))
  const places = ['lib64', 'lib64/stubs', 'targets/x86_64-linux/lib', 'targets/sbsa-linux/lib']
  const files = await Promise.all(
    places.map((place) => readdir(join(toolkit, place)).catch((): string[] => [])),
  )
  const there = new Set(files.flat())
  const names = headers.map((path) => basename(path).replace(/(_v\d+|_api)?\.h$/, ''))
  return [...new Set(names)].filter((name) => there.has(`lib${name}.so`))
}

const missingHeader = /fatal error: ([^\s:]+): No such file or directory/

/** Returns an undefined name that is probably a macro defined by the user's build system. */
const undefinedMacro = (diagnostics: readonly Diagnostic[]): string | undefined =>
  diagnostics.flatMap(
    ({ message: text }) => /^identifier "([A-Z][A-Z0-9_]+)" is undefined/.exec(text)?.[1] ?? [],
  )[0]

/**
 * Compiles the file.
 * @throws an input error with nvcc's first message if the file does not compile
 */
export async function compileFile(
  compiler: Compiler,
  file: string,
  { settings, sm, scratch }: { settings: BuildSettings; sm: string; scratch: string },
): Promise<CompiledFile> {
  const folder = dirname(file)
  const [library, rule] = [join(scratch, 'program.so'), join(scratch, 'program.d')]
  const result = await compiler.toolbox.exec({
    tool: 'nvcc',
    key: 'nvcc/from-file',
    file: compiler.nvcc,
    args: [
      ...[...(settings.std ? [] : ['-std=c++17']), '-O2', '-shared'],
      ...['-Xcompiler', '-fPIC', '-cudart', 'none', '-Xptxas', '-v'],
      ...['-gencode', `arch=compute_${sm},code=sm_${sm}`],
      ...['-D_GLIBCXX_BITS_SPECFUN_H', '-MD', '-MF', rule],
      ...compileWords(settings),
      ...[basename(file), '-o', library],
    ],
    cwd: folder,
    timeoutMs,
    signal: compiler.signal,
  })
  const { diagnostics, kernels } = readBuildOutput(result)
  if (result.outcome === 'cancelled')
    throw new KernelLadderError('cancelled', message('asked.cancelled'))
  if (result.outcome === 'not-found')
    throw missingError(message('doctor.toolMissing', { tool: 'nvcc' }), remedies.nvcc)
  if (result.outcome !== 'exited' || result.exitCode !== 0) {
    const [, header] = missingHeader.exec(`${result.stderr}\n${result.stdout}`) ?? []
    if (header !== undefined) {
      const found = await findHeader(file, header)
      throw inputError(
        `${shownPath(file)} includes ${header}, which was not found.`,
        found === null
          ? 'Give the folder that contains it with --include DIR.'
          : `Add --include ${asOption(found)}, which contains it.`,
      )
    }
    const macro = undefinedMacro(diagnostics)
    const last = result.stderr.trim().split('\n').pop() ?? ''
    throw inputError(
      undefinedFunction(result) ??
        notCompiling(diagnostics, (name) => shownPath(resolve(folder, name))) ??
        `nvcc could not build ${shownPath(file)}: ${last === '' ? result.outcome : last}`,
      macro === undefined
        ? 'It must compile by itself with nvcc -std=c++17.'
        : `If its build defines ${macro}, add --define ${macro}=VALUE.`,
    )
  }
  const all = prerequisites(await readFile(rule, 'utf8')).map((path) =>
    isAbsolute(path) ? path : resolve(folder, path),
  )
  const included = all.filter((path) => !isInstalled(path, compiler.nvcc) && path !== file)
  return {
    ...{ file, library, sm },
    modules: await readModules(compiler.toolbox, library),
    resources: kernels,
    libraries: await toolkitLibraries(all, compiler.nvcc),
    sources: [file, ...new Set(included)],
  }
}
