/** Explains why a preview has no launches: because of the program, the filters, or ncu. */
import {
  asError,
  previewProgram,
  type LaunchFilters,
  type Preview,
  type ProgramCall,
} from '../../adapters/tools/ncu-program'
import { launchMs, type ReportLaunch } from '../../adapters/sessions/report-file'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { functionOf, type PreviewLaunch } from '../../domain/programs/choose'
import { nearest } from '../../domain/text/nearest'

/**
 * Maximum number of timed launches. Each launch takes a few extra milliseconds under ncu, so a
 * million launches would take hours.
 */
export const mostTimed = 5000

/**
 * Converts a launch in a report to a preview launch. Returns an empty list for a launch that has no
 * time.
 */
export function toPreview(launch: ReportLaunch): PreviewLaunch[] {
  const ms = launchMs(launch)
  const { kernelName: name, grid, block, rung: range } = launch
  return ms === null ? [] : [{ name, grid, block, range, ms }]
}

export async function whyNothing(
  toolbox: Toolbox,
  call: ProgramCall,
  preview: Preview,
): Promise<KernelLadderError> {
  const { filters, timeoutMs } = call
  const [program] = call.command
  if (preview.outcome === 'cancelled')
    return new KernelLadderError('cancelled', message('programs.stopped'))
  if (preview.outcome === 'timeout')
    return new KernelLadderError(
      'failed',
      message('programs.timedOut', { program, seconds: timeoutMs / 1000 }),
      message('programs.longer'),
    )
  if (preview.failure) return asError(preview.failure)
  if (preview.exitCode !== 0 && preview.exitCode !== null)
    return new KernelLadderError(
      'failed',
      message('programs.failedFirst', { program, exitCode: preview.exitCode }),
      message('programs.runAlone'),
    )
  const isFiltered = filters.kernels !== null || filters.nvtx !== null || filters.skip > 0
  if (!isFiltered) return nothingLaunched(program)
  // Run the preview again without filters to see which launches exist.
  const all = await previewProgram(
    toolbox,
    {
      ...call,
      filters: { kernels: null, nvtx: null, skip: 0, count: null },
      onOutput: () => undefined,
    },
    mostTimed,
  )
  const seen = all.launches.flatMap(toPreview)
  return seen.length === 0 ? nothingLaunched(program) : nothingMatches(program, filters, seen)
}

const nothingLaunched = (program: string): KernelLadderError =>
  new KernelLadderError(
    'failed',
    message('programs.noLaunch', { program }),
    message('programs.launchSomething'),
  )

/** Returns up to ten of the names. The name most similar to `like` comes first. */
function offer(names: ReadonlySet<string>, like: string): string {
  const all = [...names]
  const near = nearest(like, all)
  return [...(near === null ? [] : [near]), ...all.filter((name) => name !== near)]
    .slice(0, 10)
    .join(', ')
}

function nothingMatches(
  program: string,
  { kernels, nvtx, skip }: LaunchFilters,
  seen: readonly PreviewLaunch[],
): KernelLadderError {
  const matching =
    kernels === null ? seen : seen.filter(({ name }) => new RegExp(kernels).test(functionOf(name)))
  if (kernels !== null && matching.length === 0)
    return inputError(
      message('programs.noKernelMatches', { program, filter: JSON.stringify(kernels) }),
      message('programs.kernelsAre', {
        names: offer(new Set(seen.map(({ name }) => functionOf(name))), kernels),
      }),
    )
  const ranges = new Set(seen.flatMap(({ range }) => (range === null ? [] : [range])))
  if (nvtx !== null && (skip === 0 || !ranges.has(nvtx)))
    return inputError(
      message('programs.noRange', { program, range: JSON.stringify(nvtx) }),
      ranges.size === 0
        ? message('programs.noRanges')
        : message('programs.rangesAre', { names: offer(ranges, nvtx) }),
    )
  return inputError(
    message('programs.skippedAll', { program, count: matching.length, skip }),
    message('programs.skipFewer'),
  )
}
