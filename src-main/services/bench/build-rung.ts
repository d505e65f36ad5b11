/** Compiles a rung to a shared library. */
import { dirname } from 'node:path/posix'
import { baseFlags, readySettings, type ReadySettings } from '../../adapters/tools/build-settings'
import {
  emptyRuntime,
  isProbed,
  macroFlags,
  probedLibraries,
  rungFlags,
} from '../../adapters/tools/nvcc'
import { isCompiledFile, isPythonFile } from '../../domain/ladder/rung'
import type { BuildSettings } from '../../domain/ladder/build-settings'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { buildCompiled } from './build-compiled'
import { type Compiler, type BuildOutcome, compile } from './compiler'
import { taskHeader, taskHeaderFile } from '../../domain/task/task-headers'
import { pythonRungLibrary } from '../../domain/task/python-rung'

/** Everything needed to build a task's sources, except the shared headers. */
export interface TaskInputs extends Pick<RunPlan, 'task' | 'headers'> {
  ladder?: Pick<RunPlan['ladder'], 'build'>
}

/**
 * Returns include flags for a task's folder and its header folders. A lab's sources and its task
 * are in different folders.
 */
export const taskFlags = (headers: ReadonlyMap<string, string>): string[] =>
  [
    ...new Set([...headers.keys()].flatMap((path) => [path.split('/', 1)[0]!, dirname(path)])),
  ].flatMap((folder) => ['-I', folder])

/**
 * Resolves a file's `build:` settings for nvcc on this machine. A replay ignores `build:` settings.
 */
export const settingsOn = async (
  { toolbox, nvcc }: Compiler,
  settings: BuildSettings = {},
  file: string,
): Promise<ReadySettings> =>
  readySettings(toolbox.replays ? {} : settings, { folder: dirname(file), nvcc })

export async function buildRung(
  compiler: Compiler,
  { task, headers: shared }: TaskInputs,
  planned: PlannedRung,
  sm: string,
  flags: (sm: string) => readonly string[] = rungFlags,
): Promise<BuildOutcome> {
  const { rung, source, headers = shared } = planned
  if (isCompiledFile(rung.file)) return buildCompiled(compiler, task, planned, sm, flags)
  const { file, header } = rung
  const { words, libraries, headersDigest } = await settingsOn(compiler, rung.build, file)
  const input = isPythonFile(file) ? `${file}.cpp` : file
  const probed = isProbed(flags(sm))
  const linksDeviceCode = probed && rung.build?.rdc === true
  const own = linksDeviceCode ? emptyRuntime.flags(flags(sm)) : flags(sm)
  return compile(compiler, {
    key: `nvcc/${rung.id}`,
    sources: new Map([
      ...compiler.includes,
      ...headers,
      [taskHeaderFile, taskHeader(task)],
      [file, source],
      ...(headersDigest === null ? [] : [['outside-headers', headersDigest] as const]),
      ...(linksDeviceCode ? [[emptyRuntime.path, emptyRuntime.text] as const] : []),
      ...(input === file ? [] : [[input, pythonRungLibrary(task, file, header)] as const]),
    ]),
    inputs: [input],
    flags: [
      ...[...baseFlags(own, words), ...taskFlags(headers)],
      ...[...macroFlags(rung.params), ...words],
    ],
    output: 'rung.so',
    libraries: [...(probed ? probedLibraries(libraries) : libraries), '-ldl'],
  })
}
