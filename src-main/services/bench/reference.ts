/** Builds the reference used to check a task's results. */
import { dirname, join } from 'node:path/posix'
import { baseFlags } from '../../adapters/tools/build-settings'
import type { BuildSettings } from '../../domain/ladder/build-settings'
import { isProbed, probedLibraries, rungFlags } from '../../adapters/tools/nvcc'
import { message, says, together } from '../../domain/messages/message'
import { KernelLadderError } from '../../domain/errors'
import { isPython } from '../../domain/task/python'
import type { TaskSource } from '../../adapters/catalog/catalog'
import { type Compiler, type BuildOutcome, compile, notCompiling } from './compiler'
import { settingsOn, type TaskInputs, taskFlags } from './build-rung'
import { referenceHeader, referenceHeaderFile } from '../../domain/task/task-headers'
import { pythonLibrary } from '../../domain/task/python-reference'

/** Builds the reference for checking a task's rungs. */
export async function compileReference(
  compiler: Compiler,
  { task, headers, ladder }: TaskInputs,
  { file, text }: TaskSource,
  sm: string,
  flags: (sm: string) => readonly string[] = rungFlags,
): Promise<BuildOutcome> {
  const settings = forReference(ladder?.build)
  const { words, libraries, headersDigest } = await settingsOn(compiler, settings, file)
  const [input, source] = isPython(file) ? [`${file}.cu`, pythonLibrary(task, text)] : [file, text]
  return compile(compiler, {
    key: 'nvcc/reference',
    sources: new Map([
      ...compiler.includes,
      ...headers,
      [referenceHeaderFile, referenceHeader(task)],
      [input, source],
      ...(headersDigest === null ? [] : [['outside-headers', headersDigest] as const]),
    ]),
    inputs: [input],
    flags: [...baseFlags(flags(sm), words), ...taskFlags(headers), ...words],
    output: 'reference.so',
    libraries: [...(isProbed(flags(sm)) ? probedLibraries(libraries) : libraries), '-ldl'],
  })
}

/**
 * Returns the build settings that the reference needs. Omits flags that only speed up rungs, such
 * as --use_fast_math.
 */
const forReference = ({ include, defines, libraries, std }: BuildSettings = {}): BuildSettings => ({
  ...(include ? { include } : {}),
  ...(defines ? { defines } : {}),
  ...(libraries ? { libraries } : {}),
  ...(std ? { std } : {}),
})

/** Builds the reference for a run. Throws an error if the build fails. */
export async function buildReference(
  compiler: Compiler,
  inputs: TaskInputs,
  source: TaskSource,
  sm: string,
  flags: (sm: string) => readonly string[] = rungFlags,
): Promise<string> {
  const built = await compileReference(compiler, inputs, source, sm, flags)
  if (built.artifact) return built.artifact
  if (compiler.signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
  // Sources are compiled in a folder named after their task, but error messages show the author's
  // own path.
  const below = `${dirname(source.file)}/`
  const shown = (file: string): string =>
    source.shown !== undefined && file.startsWith(below)
      ? join(dirname(source.shown), file.slice(below.length))
      : file
  throw new KernelLadderError(
    'failed',
    together(
      message('tools.referenceNotBuilt', { task: inputs.task.id }),
      says(built.reason, 'settings.noLibrary')
        ? built.reason
        : (notCompiling(built.diagnostics, shown) ?? built.reason),
    ),
    message('tools.seeFile', { file: shown(source.file) }),
  )
}

/**
 * Returns the error for a reference that compiles but is unusable. `why` is the last part of the
 * error message.
 */
export function unusableReference(
  { file, shown = file }: TaskSource,
  why: string,
): KernelLadderError {
  const words = { file: shown, why }
  return new KernelLadderError(
    'failed',
    message('tools.referenceUnusable', words),
    message('tools.seeFile', { file: shown }),
  )
}
