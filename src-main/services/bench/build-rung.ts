/** Compiles a rung to a shared library. */
import { dirname } from 'node:path/posix'
import { macroFlags, rungFlags } from '../../adapters/tools/nvcc'
import { isPythonFile } from '../../domain/ladder/rung'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { type Compiler, type BuildOutcome, compile } from './compiler'
import { taskHeader, taskHeaderFile } from '../../domain/task/task-headers'
import { pythonRungLibrary } from '../../domain/task/python-rung'

/** Inputs for building a task's sources, besides the shared headers. */
export type TaskInputs = Pick<RunPlan, 'task' | 'headers'>

/** Sources next to the task's headers find them anyway; a lab's sources are elsewhere. */
export const taskFlags = (headers: ReadonlyMap<string, string>): string[] =>
  [...new Set([...headers.keys()].map(dirname))].flatMap((folder) => ['-I', folder])

export async function buildRung(
  compiler: Compiler,
  { task, headers: shared }: TaskInputs,
  { rung, source, headers = shared }: PlannedRung,
  sm: string,
  flags: (sm: string) => readonly string[] = rungFlags,
): Promise<BuildOutcome> {
  const { file, header } = rung
  const input = isPythonFile(file) ? `${file}.cpp` : file
  return compile(compiler, {
    key: `nvcc/${rung.id}`,
    sources: new Map([
      ...compiler.includes,
      ...headers,
      [taskHeaderFile, taskHeader(task)],
      [file, source],
      ...(input === file ? [] : [[input, pythonRungLibrary(task, file, header)] as const]),
    ]),
    inputs: [input],
    flags: [...flags(sm), ...taskFlags(headers), ...macroFlags(rung.params)],
    output: 'rung.so',
    libraries: ['-ldl'],
  })
}
