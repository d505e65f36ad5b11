/** nvcc: its flags, and its output as a build result. */
import type { Parameters } from '../../domain/ladder/rung'
import type { Build, Diagnostic } from '../../domain/session/session'
import { parseNvccOutput, summarizeBuild, type PtxasKernel } from '../../parsers/cuda/ptxas'
import { parameterFlags } from '../../parsers/kernels/rung-header'

export type { PtxasKernel }

/** Returns the flags of every rung; `sm` as in `sm_90a`, without the prefix. */
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
 * Returns the flags for a rung that is PTX or machine code: one container of machine code, which its library embeds.
 */
export const ptxFlags = (sm: string): string[] => [
  ...['-fatbin', '-Xptxas', '-v', '-gencode', `arch=compute_${sm},code=sm_${sm}`],
]

/**
 * Returns the flags for static analysis and emulation of a rung. No CUDA runtime is linked, because the probe
 * replaces it. The guard excludes C++17's special mathematical functions from libstdc++'s <cmath>, which every source
 * includes. They take a third of a small rung's compile time, and no kernel can call them.
 */
export const staticRungFlags = (sm: string): string[] => [
  ...rungFlags(sm),
  '-cudart',
  'none',
  '-D_GLIBCXX_BITS_SPECFUN_H',
]

/**
 * Returns libraries without those of the CUDA toolkit, which need a GPU and may be missing on a machine without one.
 */
export const probedLibraries = (libraries: readonly string[]): string[] =>
  libraries.filter((word) => !/^-l(cu|nv|nccl)/.test(word))

/** Whether the probe loads what is built with these flags. */
export const isProbed = (flags: readonly string[]): boolean =>
  flags[flags.indexOf('-cudart') + 1] === 'none'

/**
 * An empty runtime (an ld script) for relocatable device code, which nvcc links only together with a runtime. The
 * probe provides the functions.
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
 * The probe's functions must be visible to the rung that it loads. It is not optimized, because it runs for
 * milliseconds and must be built before any rung is launched.
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

/** The library is loaded into programs with their own CUDA runtime. */
export const activityFlags: readonly string[] = [
  ...['-std=c++17', '-O2', '-shared', '-cudart', 'none', '-Xcompiler', '-fPIC', '-I', 'runner'],
]

/** The replay launches only through the driver. */
export const replayFlags: readonly string[] = [
  ...['-std=c++17', '-O2', '-shared', '-cudart', 'none', '-Xcompiler', '-fPIC', '-I', 'include'],
]

export const macroFlags = (params: Parameters): string[] => parameterFlags(params)

/** Generic PTX, so that one runner works on any GPU that CUDA offers and can identify it. */
export const runnerFlags: readonly string[] = [
  '-std=c++17',
  '-O2',
  '-gencode',
  'arch=compute_75,code=compute_75',
  '-I',
  'include',
]

/** Returns the flags of the microbenchmarks for exactly one architecture, whose machine code they measure. */
export const calibrationFlags = (sm: string): string[] => [
  ...['-std=c++17', '-O3', '-diag-suppress', '550', '-I', 'include'],
  ...['-gencode', `arch=compute_${sm},code=sm_${sm}`],
]

/** Returns `13.0.88` for `release 13.0, V13.0.88`. */
export const nvccRelease = (text: string): string | null => /\bV(\d[\d.]*)/.exec(text)?.[1] ?? null

export function readBuildOutput(output: { stdout: string; stderr: string }): {
  resources: Omit<Build, 'seconds' | 'cached'>
  diagnostics: Diagnostic[]
  kernels: PtxasKernel[]
} {
  const { kernels, diagnostics } = parseNvccOutput(`${output.stderr}\n${output.stdout}`)
  return { resources: summarizeBuild(kernels), diagnostics, kernels }
}
