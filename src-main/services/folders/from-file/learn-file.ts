/** Compiles the user's file, records what its main() launches, and chooses the kernel. */
import { dirname } from 'node:path'
import { functionsIn, sourceFunctions } from '../../../adapters/catalog/cuda-file'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import {
  demangledKernels,
  recordMain,
  type RecordedMain,
} from '../../../adapters/sandbox/record-main'
import { gpuWords, layoutWords } from '../../../adapters/tools/launch-probe'
import { inputError, missingError } from '../../../domain/errors'
import type { BuildGpu } from '../../../domain/gpu/gpu-table'
import type { BuildSettings } from '../../../domain/ladder/build-settings'
import { message } from '../../../domain/messages/message'
import type { KernelLaunch } from '../../../domain/proposal/proposal'
import { signatureOf } from '../../../domain/proposal/signature'
import { hasMain, type SourceFunction } from '../../../domain/proposal/source'
import type { Bench } from '../../bench/bench'
import { layoutsOf } from '../../run/emulate'
import {
  chooseKernel,
  inventedLaunch,
  noArray,
  recordedLaunch,
  type ChosenKernel,
} from './choose-kernel'
import { compileFile, type CompiledFile } from './compile-file'
import { compileOptions } from './compile-options'

export interface FromFileRequest {
  file: string
  kernel?: string
  /** Include directories. */
  include: readonly string[]
  /** Macros in the form `NAME` or `NAME=VALUE`. */
  define: readonly string[]
  /** Command-line arguments for the file's main(). */
  args: readonly string[]
}

/**
 * Time limit for main() in seconds. If main() exceeds it, the launches recorded until then are
 * used.
 */
const mainSeconds = 20

interface Recorder {
  /** Path of kl-program. */
  recorder: string
  /** Command-line arguments that describe the GPU and the kernels. */
  words: string[]
}

async function openRecorder(
  bench: Bench,
  { modules, resources }: CompiledFile,
  gpu: BuildGpu,
): Promise<Recorder> {
  const recorder = await bench.programRecorder()
  if ('reason' in recorder) throw missingError(recorder.reason, message('tools.hostCompiler'))
  return {
    recorder: recorder.artifact,
    words: [
      ...gpuWords(gpu),
      ...layoutWords(layoutsOf(modules)),
      ...resources.flatMap(({ name, registers, staticSharedBytes }) =>
        registers === null ? [] : ['--resources', `${name}=${registers},${staticSharedBytes ?? 0}`],
      ),
    ],
  }
}

/**
 * Whether the code uses instructions that require an architecture-specific target such as sm_90a.
 */
const isArchitectureSpecific = (text: string): boolean => /\bwgmma\b|\bsetmaxnreg\b/.test(text)

/** Facts about the user's file that are known before any file is written. */
export interface Learnt {
  settings: BuildSettings
  compiled: CompiledFile
  functions: SourceFunction[]
  main: RecordedMain | null
  chosen: ChosenKernel
  launch: KernelLaunch
}

export async function learn(
  bench: Bench,
  file: string,
  text: string,
  request: FromFileRequest,
  { gpu, scratch, tell }: { gpu: BuildGpu; scratch: string; tell: (notice: string) => void },
): Promise<Learnt> {
  const shown = shownPath(file)
  const runs = hasMain(sourceFunctions(text))
  const compiler = await bench.compiler()
  // Start building the recorder and the probe early. Each build takes seconds, and the recorder and
  // the probe are both needed.
  for (const build of [bench.programRecorder, bench.launchProbe]) build().catch(() => undefined)
  const { settings, from } = await compileOptions(file, request)
  if (from !== null) tell(`Compiling it as ${from} says.`)
  const compiled = await compileFile(compiler, file, {
    settings,
    sm: isArchitectureSpecific(text) ? '90a' : '90',
    scratch,
  })
  const functions = await functionsIn(compiled.sources)
  const kernels = functions.filter(({ isKernel }) => isKernel)
  if (kernels.length === 0)
    throw inputError(
      `${shown} defines no __global__ function.`,
      'Give the file that contains the kernel.',
    )
  const { recorder, words } = await openRecorder(bench, compiled, gpu)
  const names = await demangledKernels(recorder, words, bench.signal)
  const { library } = compiled
  if (runs) tell(`Running main() of ${shown} without a GPU, to record what it launches.`)
  const main = runs
    ? await recordMain({
        ...{ recorder, library, words, folder: dirname(file), args: request.args },
        ...{ seconds: mainSeconds, signal: bench.signal },
      })
    : null
  const own = new Set(kernels.map(({ name }) => name))
  const chosen = chooseKernel({
    ...{ file: shown, wanted: request.kernel, kernels, launches: main?.launches ?? [] },
    stopped: main?.stopped ?? null,
    compiled: compiled.modules
      .flatMap((module) => module.kernels)
      .map((kernel) => ({ kernel, signature: signatureOf(names.get(kernel.name) ?? kernel.name) }))
      .filter(({ signature }) => own.has(signature.base)),
  })
  const launch = chosen.launch
    ? recordedLaunch(shown, chosen, chosen.launch)
    : inventedLaunch(shown, chosen)
  if (!launch.parameters.some(({ kind, pointer }) => kind.kind === 'pointer' && pointer !== null))
    throw noArray(shown, chosen.signature.call)
  return { settings, compiled, functions, main, chosen, launch }
}
