/** Defines nvcc's flags and converts its output to a build result. */
import type { Parameters } from '../../domain/ladder/rung'
import type { Build, Diagnostic } from '../../domain/session/session'
import { parseNvccOutput, summarizeBuild, type PtxasKernel } from '../../parsers/cuda/ptxas'
import { parameterFlags } from '../../parsers/kernels/rung-header'

export type { PtxasKernel }

/**
 * Returns the flags that all rungs share. `sm` is the architecture without the prefix, such as
 * `90a` for `sm_90a`.
 */
export const rungFlags = (sm: string): string[] => [
  '-std=c++17',
  '-O3',
  '-lineinfo',
  '-shared',
  '-Xcompiler',
  '-fPIC',
  '-Xptxas',
  '-v',
  '-gencode',
  `arch=compute_${sm},code=sm_${sm}`,
  '-I',
  'include',
]

/**
 * Returns the flags for a rung that consists of PTX or machine code. With these flags, nvcc writes
 * a fatbin, which is embedded in the rung's library.
 */
export const ptxFlags = (sm: string): string[] => [
  ...['-fatbin', '-Xptxas', '-v', '-gencode', `arch=compute_${sm},code=sm_${sm}`],
]

/**
 * Returns the flags for a rung's static analysis and emulation.
 *
 * The CUDA runtime is not linked, because the probe replaces it. A macro excludes C++17's special
 * mathematical functions from libstdc++'s <cmath>, which every source includes. The special
 * functions take a third of a small rung's compile time, and kernels cannot call them.
 */
export const staticRungFlags = (sm: string): string[] => [
  ...rungFlags(sm),
  '-cudart',
  'none',
  '-D_GLIBCXX_BITS_SPECFUN_H',
]

/**
 * Removes the CUDA toolkit libraries from a list of libraries. Toolkit libraries need a GPU and may
 * be missing on a machine that has no GPU.
 */
export const probedLibraries = (libraries: readonly string[]): string[] =>
  libraries.filter((word) => !/^-l(cu|nv|nccl)/.test(word))

/** Whether the probe can load a library that was built with these flags. */
export const isProbed = (flags: readonly string[]): boolean =>
  flags[flags.indexOf('-cudart') + 1] === 'none'

/**
 * An empty CUDA runtime (an ld script) for relocatable device code. nvcc links relocatable code
 * only together with a runtime. The launch probe provides the functions of the CUDA runtime.
 */
export const emptyRuntime = {
  path: 'rdc/libcudart.so',
  text: '/* The launch probe has the functions of the runtime. */\n',
  flags: (flags: readonly string[]): string[] => [
    ...flags.map((flag) => (flag === 'none' ? 'shared' : flag)),
    ...['-L', 'rdc'],
  ],
}

/**
 * Flags for the launch probe. The probe's functions must be visible to the rung that it loads. The
 * probe is compiled without optimization, because it runs for milliseconds and must be built before
 * any rung is launched.
 */
export const launchProbeFlags: readonly string[] = [
  '-std=c++17',
  '-O0',
  '-cudart',
  'none',
  '-Xcompiler',
  '-rdynamic',
  '-I',
  'include',
]

/**
 * Flags for the activity library, which is loaded into programs that have their own CUDA runtime.
 */
export const activityFlags: readonly string[] = [
  ...['-std=c++17', '-O2', '-shared', '-cudart', 'none', '-Xcompiler', '-fPIC', '-I', 'runner'],
]

/**
 * Flags for the rung that replays a description. The replay launches kernels only through the
 * driver API.
 */
export const replayFlags: readonly string[] = [
  ...['-std=c++17', '-O2', '-shared', '-cudart', 'none', '-Xcompiler', '-fPIC', '-I', 'include'],
]

export const macroFlags = (params: Parameters): string[] => parameterFlags(params)

/** Flags for the runner. With generic PTX, one runner works on every GPU that CUDA supports. */
export const runnerFlags: readonly string[] = [
  '-std=c++17',
  '-O2',
  '-gencode',
  'arch=compute_75,code=compute_75',
  '-I',
  'include',
]

/**
 * Returns the flags for the microbenchmarks, which measure machine code for exactly one
 * architecture.
 */
export const calibrationFlags = (sm: string): string[] => [
  ...['-std=c++17', '-O3', '-diag-suppress', '550', '-I', 'include'],
  ...['-gencode', `arch=compute_${sm},code=sm_${sm}`],
]

/** Returns the release number, such as `13.0.88` for `release 13.0, V13.0.88`. */
export const nvccRelease = (text: string): string | null => /\bV(\d[\d.]*)/.exec(text)?.[1] ?? null

export function readBuildOutput(output: { stdout: string; stderr: string }): {
  resources: Omit<Build, 'seconds' | 'cached'>
  diagnostics: Diagnostic[]
  kernels: PtxasKernel[]
} {
  const { kernels, diagnostics } = parseNvccOutput(`${output.stderr}\n${output.stdout}`)
  return { resources: summarizeBuild(kernels), diagnostics, kernels }
}
