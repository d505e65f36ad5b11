/**
 * Times a program's launches. By default, ncu times the launches one after another. If a kernel
 * does not finish when it runs alone, CUPTI times the launches while kernels run concurrently.
 */
import { previewProgram, type Preview, type ProgramCall } from '../../adapters/tools/ncu-program'
import { timeProgram } from '../../adapters/tools/program-activity'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { PreviewLaunch } from '../../domain/programs/choose'
import { message, together, type Statement } from '../../domain/messages/message'
import { KernelLadderError, toErrorShape } from '../../domain/errors'
import type { Bench } from '../bench/bench'
import { mostTimed, toPreview, whyNothing } from './nothing'

export interface TimedLaunches extends Pick<Preview, 'outcome' | 'exitCode' | 'whole'> {
  launches: PreviewLaunch[]
  /** Indexes of the GPUs that executed the launches. */
  gpus: ReadonlySet<number | null>
  by: 'ncu' | 'cupti'
  warnings: Statement[]
}

export interface LaunchTiming {
  toolbox: Toolbox
  call: ProgramCall
  /** Opens the bench that builds the CUPTI library. */
  bench: () => Promise<Bench>
  /** Called before the program runs again without ncu. */
  onStuck: (kernel: string) => void
}

/** Times the launches. Throws an error if no launches were found. */
export async function timeLaunches(timing: LaunchTiming): Promise<TimedLaunches> {
  const { toolbox, call } = timing
  const seen = await previewProgram(toolbox, call, mostTimed)
  const launches = seen.launches.flatMap(toPreview)
  if (seen.stuckKernel !== null) return timeTogether(timing, seen.stuckKernel)
  if (launches.length === 0) throw await whyNothing(toolbox, call, seen)
  const { outcome, exitCode, whole } = seen
  const gpus = new Set(seen.launches.map(({ device }) => device))
  return { outcome, exitCode, whole, launches, gpus, by: 'ncu', warnings: [] }
}

/**
 * Times kernels that may wait for each other. Discards ncu's times, because the program did not run
 * properly under ncu.
 */
async function timeTogether(
  { toolbox, call, bench, onStuck }: LaunchTiming,
  kernel: string,
): Promise<TimedLaunches> {
  const stuck = message('programs.neverAlone', { kernel })
  const failed = (why: Statement, remedy?: Statement): KernelLadderError =>
    new KernelLadderError('failed', together(stuck, why), remedy)
  if (call.filters.nvtx !== null)
    throw failed(message('programs.noRangeTogether'), message('programs.withoutRange'))
  onStuck(kernel)
  const library = await buildLibrary(bench)
  if ('reason' in library)
    throw failed(
      message('programs.noTogether', { why: library.reason }),
      message('programs.needsCupti'),
    )
  const timed = await timeProgram(toolbox, call, library.artifact)
  if (timed.noCupti) throw failed(message('programs.cuptiMissing'), message('programs.needsCupti'))
  if (timed.launches.length === 0) throw failed(message('programs.noneTogether'))
  const { outcome, exitCode, whole, launches } = timed
  return {
    ...{ outcome, exitCode, whole, launches },
    gpus: new Set(launches.map(({ device }) => device)),
    by: 'cupti',
    warnings: [together(stuck, message('programs.timedTogether'))],
  }
}

async function buildLibrary(
  bench: () => Promise<Bench>,
): Promise<{ artifact: string } | { reason: Statement }> {
  try {
    return await (await bench()).activity()
  } catch (error) {
    return { reason: toErrorShape(error).message }
  }
}
