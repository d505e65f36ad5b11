/** nvcc: its flags, and its output as a build result. */
import type { Parameters } from '../../domain/ladder/rung'
import type { Build, Diagnostic } from '../../domain/session/session'
import { parseNvccOutput, summarizeBuild, type PtxasKernel } from '../../parsers/cuda/ptxas'
import { parameterFlags } from '../../parsers/kernels/rung-header'

export type { PtxasKernel }

/** Flags of every rung; `sm` as in `sm_90a`, without the prefix. */
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

/** For a rung that is PTX or machine code: one container of machine code, which its library embeds. */
export const ptxFlags = (sm: string): string[] => [
  ...['-fatbin', '-Xptxas', '-v', '-gencode', `arch=compute_${sm},code=sm_${sm}`],
]

/**
 * For static analysis of a rung, and to emulate it: the probe stands in for the CUDA runtime, so none is linked. The
 * guard leaves C++17's special mathematical functions out of libstdc++'s <cmath>, which every source includes: they
 * are a third of the time that a small rung takes to compile, and no kernel can call them.
 */
export const staticRungFlags = (sm: string): string[] => [
  ...rungFlags(sm),
  '-cudart',
  'none',
  '-D_GLIBCXX_BITS_SPECFUN_H',
]

/** Without those of the CUDA toolkit: none of them works without a GPU, and a machine without one may lack them. */
export const probedLibraries = (libraries: readonly string[]): string[] =>
  libraries.filter((word) => !/^-l(cu|nv|nccl)/.test(word))

/** Whether what is built with these flags is loaded by the probe. */
export const isProbed = (flags: readonly string[]): boolean =>
  flags[flags.indexOf('-cudart') + 1] === 'none'

/**
 * For relocatable device code with such flags: nvcc links it only where it also links a runtime. This one is empty, an ld
 * script, since the probe has the functions.
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
 * The probe's functions must be visible to the rung that it loads. It is not optimized: it runs for milliseconds, and
 * no rung is launched before it is built.
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

/** It is loaded into programs that have a CUDA runtime of their own. */
export const activityFlags: readonly string[] = [
  ...['-std=c++17', '-O2', '-shared', '-cudart', 'none', '-Xcompiler', '-fPIC', '-I', 'runner'],
]

/** It launches through the driver alone. */
export const replayFlags: readonly string[] = [
  ...['-std=c++17', '-O2', '-shared', '-cudart', 'none', '-Xcompiler', '-fPIC', '-I', 'include'],
]

export const macroFlags = (params: Parameters): string[] => parameterFlags(params)

/** Generic PTX, so that one runner works on any GPU that CUDA offers and can report which one it is. */
export const runnerFlags: readonly string[] = [
  '-std=c++17',
  '-O2',
  '-gencode',
  'arch=compute_75,code=compute_75',
  '-I',
  'include',
]

/** The microbenchmarks, for exactly one architecture: what they measure is its machine code. */
export const calibrationFlags = (sm: string): string[] => [
  ...['-std=c++17', '-O3', '-diag-suppress', '550', '-I', 'include'],
  ...['-gencode', `arch=compute_${sm},code=sm_${sm}`],
]

/** `release 13.0, V13.0.88` → `13.0.88`. */
export const nvccRelease = (text: string): string | null => /\bV(\d[\d.]*)/.exec(text)?.[1] ?? null

export function readBuildOutput(output: { stdout: string; stderr: string }): {
  resources: Omit<Build, 'seconds' | 'cached'>
  diagnostics: Diagnostic[]
  kernels: PtxasKernel[]
} {
  const { kernels, diagnostics } = parseNvccOutput(`${output.stderr}\n${output.stdout}`)
  return { resources: summarizeBuild(kernels), diagnostics, kernels }
}
