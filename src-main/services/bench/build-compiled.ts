/**
 * Builds a rung from precompiled code. PTX and machine code are wrapped in a library. A shared
 * library is used unchanged.
 */
import { basename } from 'node:path/posix'
import { keepLibrary } from '../../adapters/disk/build-cache'
import {
  builtElsewhere,
  inspectCubin,
  isLibrary,
  kernelsOf,
  readModules,
} from '../../adapters/tools/built-code'
import { baseFlags, readySettings } from '../../adapters/tools/build-settings'
import { ptxFlags, rungFlags } from '../../adapters/tools/nvcc'
import { compiledRungLibrary, launchFault } from '../../domain/ladder/compiled-rung'
import { isKernelFile } from '../../domain/ladder/rung'
import { KernelLadderError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { PlannedRung } from '../../domain/run/plan'
import type { Task } from '../../domain/task/task'
import { taskHeader, taskHeaderFile } from '../../domain/task/task-headers'
import { compile, type BuildOutcome, type Compiler } from './compiler'

const failed = (reason: Statement): BuildOutcome => ({
  ...{ artifact: null, build: null, diagnostics: [] },
  reason,
})

export async function buildCompiled(
  compiler: Compiler,
  task: Task,
  planned: PlannedRung,
  sm: string,
  flags: (sm: string) => readonly string[] = rungFlags,
): Promise<BuildOutcome> {
  const { rung, bytes = new Uint8Array() } = planned
  const { launch } = rung
  const file = basename(rung.file)
  if (!isKernelFile(rung.file))
    return isLibrary(bytes) || compiler.toolbox.replays
      ? libraryAsItIs(compiler, bytes)
      : failed(message('compiled.noLibrary', { file }))
  if (!launch) return failed(message('compiled.noLaunch', { file }))
  const binary = await fatBinary(compiler, planned, sm)
  if (binary.artifact === null) return binary
  const modules = await readModules(compiler.toolbox, binary.artifact)
  // A replay has no machine code to read.
  const kernels = modules.flatMap((module) => module.kernels)
  const fault = compiler.toolbox.replays ? null : launchFault(task, file, launch, kernels)
  if (fault) return failed(fault)
  const kernel = kernels.find(({ name }) => name === launch.kernel)
  const source = `${rung.file}.cpp`
  const code = `${rung.file}.fatbin`
  const built = await compile(compiler, {
    key: `nvcc/${rung.id}`,
    sources: new Map<string, string | Uint8Array>([
      ...compiler.includes,
      [taskHeaderFile, taskHeader(task)],
      [source, compiledRungLibrary(task, launch, code, kernel ?? null)],
      [code, (await compiler.toolbox.readBuilt(binary.artifact)) ?? new Uint8Array()],
    ]),
    inputs: [source],
    flags: flags(sm),
    output: 'rung.so',
    libraries: ['-ldl'],
  })
  if (built.build === null) return built
  const { build, diagnostics } = binary
  // ptxas does not run if the rung is already machine code.
  const assembled = binary.kernels?.length ? binary.kernels : null
  const resources = assembled ?? kernelsOf(modules)
  return {
    ...built,
    build: {
      ...(assembled && build ? build : builtElsewhere(resources)),
      seconds: built.build.seconds + (build?.seconds ?? 0),
      cached: built.build.cached,
    },
    diagnostics: [...diagnostics, ...built.diagnostics],
    kernels: resources,
  }
}

/** Packs a rung's PTX or machine code into the container that the CUDA runtime loads. */
async function fatBinary(
  compiler: Compiler,
  { rung, source, bytes }: PlannedRung,
  sm: string,
): Promise<BuildOutcome> {
  const cubin = bytes && usableCubin(basename(rung.file), bytes, sm)
  if (cubin && 'fault' in cubin) return failed(cubin.fault)
  const settings = await readySettings(bytes ? {} : (rung.build ?? {}), {
    folder: '',
    nvcc: compiler.nvcc,
  })
  return compile(compiler, {
    key: `nvcc/${rung.id}-code`,
    sources: new Map([[rung.file, bytes ?? source]]),
    inputs: [rung.file],
    flags: [...baseFlags(ptxFlags(cubin?.sm ?? sm), settings.words), ...settings.words],
    output: 'rung.fatbin',
    libraries: [],
  })
}

/**
 * Returns a cubin's architecture as nvcc writes it, or the reason that the GPU cannot execute the
 * cubin.
 */
function usableCubin(
  file: string,
  cubin: Uint8Array,
  sm: string,
): { sm: string } | { fault: Statement } {
  const found = inspectCubin(cubin)
  if ('unreadable' in found)
    return { fault: message('compiled.unreadable', { file, why: found.unreadable }) }
  if (!found.hasKernels) return { fault: message('compiled.noKernels', { file }) }
  const { architecture: built } = found
  const gpu = Number.parseInt(sm, 10)
  // A GPU executes code built for its own major compute capability version and for the same or a
  // lower minor version.
  const fits = Math.floor(built / 10) === Math.floor(gpu / 10) && built <= gpu
  return fits
    ? { sm: `${built}${built >= 90 ? 'a' : ''}` }
    : { fault: message('compiled.otherArchitecture', { file, built, gpu }) }
}

async function libraryAsItIs(
  { toolbox, cache }: Compiler,
  library: Uint8Array,
): Promise<BuildOutcome> {
  const artifact = toolbox.replays ? 'rung.so' : await keepLibrary(cache, library)
  const modules = await readModules(toolbox, artifact).catch((error: unknown) => {
    if (error instanceof KernelLadderError && error.kind === 'input') return []
    throw error
  })
  const kernels = kernelsOf(modules)
  const build = { ...builtElsewhere(kernels), seconds: 0, cached: true }
  return { artifact, build, diagnostics: [], kernels }
}
