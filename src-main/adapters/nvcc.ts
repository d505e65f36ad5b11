/** nvcc: its flags, and what its output says of a build. */
import type { Parameters } from '../domain/rung'
import type { Build, Diagnostic } from '../domain/session'
import { parseNvccOutput, summarizeBuild } from '../parsers/ptxas'
import { parameterFlags } from '../parsers/rung-header'

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

export const macroFlags = (params: Parameters): string[] => parameterFlags(params)

/** Generic PTX, so that one runner serves whichever GPU CUDA offers and can say which that is. */
export const runnerFlags: readonly string[] = [
  '-std=c++17',
  '-O2',
  '-gencode',
  'arch=compute_75,code=compute_75',
  '-I',
  'include',
]

/** `release 13.0, V13.0.88` → `13.0.88`. */
export const nvccRelease = (text: string): string | null => /\bV(\d[\d.]*)/.exec(text)?.[1] ?? null

export function readBuildOutput(output: { stdout: string; stderr: string }): {
  resources: Omit<Build, 'seconds' | 'cached'>
  diagnostics: Diagnostic[]
} {
  const { kernels, diagnostics } = parseNvccOutput(`${output.stderr}\n${output.stdout}`)
  return { resources: summarizeBuild(kernels), diagnostics }
}
