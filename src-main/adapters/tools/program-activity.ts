/**
 * Times a program's launches through CUPTI. Unlike ncu, CUPTI allows kernels to run concurrently.
 * The library `cuda-kernels/activity` is loaded into the program and records the launches.
 */
import { functionOf } from '../../domain/programs/choose'
import { parseActivity, type Activity } from '../../parsers/cuda/activity'
import type { ProgramCall } from './ncu-program'
import type { ProcessResult } from './process'
import type { Toolbox } from './toolbox'

export interface ProgramActivity extends Activity, Pick<ProcessResult, 'outcome' | 'exitCode'> {}

const fileName = 'activity.tsv'
/**
 * Limits per process. If names have typical lengths, the lines for `mostLaunches` launches fit into
 * `mostBytes`.
 */
const mostLaunches = 50_000
const mostBytes = 2 ** 26

/**
 * Runs the program again, without ncu. CUPTI cannot filter by NVTX range, so `filters.nvtx` must be
 * null.
 */
export async function timeProgram(
  toolbox: Toolbox,
  { command, cwd, filters, timeoutMs, signal }: ProgramCall,
  library: string,
): Promise<ProgramActivity> {
  const scratch = await toolbox.scratch()
  try {
    const [file, ...args] = command
    const { outcome, exitCode } = await toolbox.exec({
      ...{ tool: 'program', key: 'program/activity', file, args },
      ...(cwd === undefined ? {} : { cwd }),
      env: {
        CUDA_INJECTION64_PATH: library,
        KERNEL_LADDER_ACTIVITY: `${scratch.path}/${fileName}`,
        KERNEL_LADDER_LAUNCHES: String(mostLaunches),
      },
      ...{ timeoutMs, signal },
      // Discard the output, because the first run already printed it.
      passOn: { to: () => undefined, keep: 0 },
    })
    const { text, whole } = await scratch.readLog(fileName, mostBytes)
    const activity = parseActivity(text)
    const pattern = filters.kernels === null ? null : new RegExp(filters.kernels)
    const matching = activity.launches.filter(({ name }) => pattern?.test(functionOf(name)) ?? true)
    const launches = matching.slice(filters.skip, filters.skip + (filters.count ?? Infinity))
    return { ...activity, launches, whole: whole && activity.whole, outcome, exitCode }
  } finally {
    await scratch.remove()
  }
}
